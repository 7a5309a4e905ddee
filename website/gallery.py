"""Draw the gallery of the site: short runs of library scenarios, and a page that shows them.

python website/gallery.py build/gallery
"""

import sys
from pathlib import Path

import seatrial as st

SHOWN = {
    "demo": "A surface vessel and an underwater vehicle in the same sea state 4.",
    "otter-turning-circle": "An Otter turns in waves and wind; the indices are IMO's.",
    "mariner-zigzag": "A Mariner on Kempf's zig-zag trial.",
    "otter-crossing": "A mission by the vehicle's own sensors, with a vessel that it must avoid.",
    "otters-channel": "Four Otters meet in a channel and steer by the COLREGs.",
    "smarty-swarm": "A swarm of SMARTYs, released together.",
}


def main(folder: Path) -> None:
    """Run each of them, keep its figure, and write the page."""
    folder.mkdir(parents=True, exist_ok=True)
    page = ["# Gallery", "Drawn by the commands above them when this site was built."]
    for name, claim in SHOWN.items():
        print(name, flush=True)
        run = st.run(name)
        run.plot(folder / f"{name}.png")
        out = f"{name}.{'mcap' if len(run.summary.vehicles) <= 100 else 'zarr'}"
        command = f"seatrial run {name} --out {out}\nseatrial plot {out}"
        picture = f"[![{claim}]({name}.png)]({name}.png)"
        page += [f"## {name}", claim, f"```bash\n{command}\n```", picture]
    (folder / "figures.md").write_text("\n\n".join(page) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
