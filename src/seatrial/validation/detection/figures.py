"""Two confusion matrices side by side."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seatrial.validation.figures import INK, STYLE, new_figure, save_figure

TITLES = {"clear": "clear and still", "foggy": "foggy and wavy"}


def draw_confusion(counts: dict[str, NDArray[np.int64]], classes: Sequence[str], out: Path) -> Path:
    """Shares of what was there (columns) by what was predicted (rows)."""
    import matplotlib as mpl

    names = [*(name.replace("_", " ") for name in classes), "background"]
    with mpl.rc_context(STYLE):
        figure = new_figure(11.0, 5.4)
        axes = figure.subplots(1, 2, sharey=True)
        for ax, (name, found) in zip(axes, counts.items(), strict=True):
            share = found / np.maximum(found.sum(axis=0, keepdims=True), 1)
            ax.imshow(share, cmap="Blues", vmin=0.0, vmax=1.0)
            ax.set_title(TITLES[name])
            ax.set_xticks(range(len(names)), names, rotation=40, ha="right")
            ax.set_yticks(range(len(names)), names)
            ax.set_xlabel("what was there")
            for row, column in np.argwhere(found > 0):
                dark = share[row, column] > 0.55
                ax.text(
                    column,
                    row,
                    f"{share[row, column]:.2f}",
                    ha="center",
                    va="center",
                    fontsize=9,
                    color="white" if dark else INK,
                )
        axes[0].set_ylabel("what was predicted")
        return save_figure(figure, out)
