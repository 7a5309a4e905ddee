"""The pictures of the buoyancy study, in the order of the figures that they stand beside."""

from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from numpy.typing import NDArray

from seatrial.validation.figures import INK, MUTED, STYLE, new_figure, save_figure

Array = NDArray[np.float64]
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#aa4499", "#b8860b")


def draw_buoyancy(
    out: Path,
    depths: Array,
    exact: Array,
    curves: dict[str, Array],
    uncut: dict[str, Array],
    times: dict[str, float],
    published: dict[str, float],
) -> Path:
    """Six panels: figures 22, 23, 24, 25, 26 and 29."""
    with rc_context(STYLE):
        figure = new_figure(12.5, 7.6)
        axes = figure.subplots(2, 3).ravel()
        triangles = {k: v for k, v in curves.items() if k.endswith("triangles")}
        cubes = {k: v for k, v in curves.items() if k.endswith("cubes")}
        _volumes(axes[0], "22  Triangles, cut", depths, exact, triangles)
        counts = [int(k.split()[0].replace(",", "")) for k in cubes]
        errors = [float(np.abs(v - exact).max()) for v in cubes.values()]
        axes[1].loglog(counts, errors, "o-", color=COLOURS[0])
        axes[1].set(title="23  Cubes: error over their number", xlabel="cubes", ylabel="m³")
        _volumes(axes[2], "24  Cubes, not cut", depths, exact, {"not cut": uncut["cubes"]})
        _volumes(
            axes[3], "25  80 triangles, not cut", depths, exact, {"not cut": uncut["triangles"]}
        )
        _volumes(axes[4], "26  Cubes, cut", depths, exact, cubes)
        names = list(published)
        places = np.arange(len(names))
        axes[5].bar(
            places - 0.2, [published[n] for n in names], 0.4, color=MUTED, label="published"
        )
        ours = [times[nearest(n, times)] for n in names]
        axes[5].bar(places + 0.2, ours, 0.4, color=COLOURS[0], label="seatrial")
        axes[5].set_yscale("log")
        axes[5].set_xticks(places, [n.replace(" ", "\n") for n in names])
        axes[5].set(title="29  One update", ylabel="µs")
        axes[5].legend()
        return save_figure(figure, out)


def nearest(name: str, times: dict[str, float]) -> str:
    """Ours of the same sort with at least as many pieces, or the most."""
    wanted, sort = int(name.split()[0].replace(",", "")), name.split()[1]
    sizes = sorted(int(k.split()[0].replace(",", "")) for k in times if k.endswith(sort))
    size = next((s for s in sizes if s >= wanted), sizes[-1])
    return f"{size:,} {sort}"


def _volumes(axes: Axes, title: str, depths: Array, exact: Array, curves: dict[str, Array]) -> None:
    axes.plot(depths, exact, "--", color=INK, linewidth=1.0, label="sphere")
    for (name, values), colour in zip(curves.items(), COLOURS, strict=False):
        axes.plot(depths, values, color=colour, linewidth=1.1, label=name)
    axes.set(title=title, xlabel="depth of the middle / m", ylabel="displaced / m³")
    axes.legend()
