"""Take the pictures of docs/cameras.md: `python website/cameras.py docs/images`."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from matplotlib import colormaps
from PIL import Image, ImageDraw

import seatrial as st
from seatrial.render.water import medium
from seatrial.validation.gallery import PICTURES, Picture, take

SEED = 3
ABOVE, BELOW, HEAT = PICTURES[-3:]


def photo(one: Picture, **changes: object) -> np.ndarray:
    """The picture as three bytes per pixel."""
    image = take(replace(one, sensor={**one.sensor, **changes}), SEED).payload[-1]
    if image.dtype == np.uint16 and changes.get("shows") != "instance":
        low, high = np.quantile(image, [0.01, 0.998])
        shade = np.clip((image - low) / (high - low), 0.0, 1.0)
        return (255 * colormaps["inferno"](shade)[..., :3]).astype(np.uint8)
    if image.ndim == 3:
        return image if image.dtype == np.uint8 else (127.5 + 127.5 * image).astype(np.uint8)
    if image.dtype == np.float32:
        near = np.clip(np.log(np.minimum(image, 200.0)) / np.log(200.0), 0.0, 1.0)
        return (255 * colormaps["turbo_r"](near)[..., :3]).astype(np.uint8)
    return (255 * colormaps["tab20"](image % 20)[..., :3]).astype(np.uint8)


def sheet(parts: list[tuple[str, np.ndarray]], columns: int) -> Image.Image:
    """Pictures of one size side by side, each with its name."""
    height, width = parts[0][1].shape[:2]
    rows = -(-len(parts) // columns)
    whole = Image.new("RGB", (columns * width, rows * height))
    draw = ImageDraw.Draw(whole)
    for i, (name, image) in enumerate(parts):
        at = (i % columns) * width, (i // columns) * height
        whole.paste(Image.fromarray(image), at)
        draw.text((at[0] + 7, at[1] + 5), name, fill="black")
        draw.text((at[0] + 6, at[1] + 4), name, fill="white")
    return whole


def main(folder: Path) -> None:
    """All of them, as JPEG."""
    small = {"width": 320, "height": 240}
    masks = ("depth", "normals", "instance", "category")
    passes = [("colour", photo(ABOVE, **small))]
    passes += [(name, photo(ABOVE, shows=name, **small)) for name in masks]
    passes += [("thermal", photo(HEAT, **small))]
    waters = []
    for name in ("I", "IB", "II", "III", "3C", "7C"):
        water = st.load(BELOW.world, st.World).model_copy(update={"water_type": name})
        one = photo(replace(BELOW, world=water), **small)
        waters.append((f"{name}: c = {medium(name).attenuation[1]:.2f} per metre of green", one))
    for name, image in {
        "camera-above": Image.fromarray(photo(ABOVE)),
        "camera-below": Image.fromarray(photo(BELOW)),
        "camera-passes": sheet(passes, 3),
        "camera-waters": sheet(waters, 3),
    }.items():
        image.save(folder / f"{name}.jpg", quality=82)
        print(folder / f"{name}.jpg")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
