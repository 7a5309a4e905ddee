"""Draw the gallery of the site: short runs of library scenarios, and a page that shows them.

python website/gallery.py build/gallery
"""

import sys
from pathlib import Path

import seatrial as st

SHOWN = [
    "demo",
    "otter-turning-circle",
    "mariner-zigzag",
    "otter-crossing",
    "otters-channel",
    "smarty-swarm",
]


def main(folder: Path) -> None:
    """Run each of them, keep its figure, and write the page."""
    folder.mkdir(parents=True, exist_ok=True)
    page = ["# Gallery", "Drawn by the commands above them when this site was built."]
    for name in SHOWN:
        print(name, flush=True)
        claim = f"{st.load(name, st.Scenario).description}."
        run = st.run(name)
        run.plot(folder / f"{name}.png")
        out = f"{name}.{'mcap' if len(run.summary.vehicles) <= 100 else 'zarr'}"
        command = f"seatrial run {name} --out {out}\nseatrial plot {out}"
        picture = f"[![{claim}]({name}.png)]({name}.png)"
        page += [f"## {name}", claim, f"```bash\n{command}\n```", picture]
    (folder / "figures.md").write_text("\n\n".join(page) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
