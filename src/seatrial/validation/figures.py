"""What pictures of studies share: matplotlib without pyplot; the same results, the same bytes."""

from pathlib import Path
from typing import Any

INK, MUTED, LINE = "#1f2933", "#66727f", "#b8c2cc"
STYLE: Any = {
    "font.family": ["DejaVu Sans"],
    "font.size": 10,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlecolor": INK,
    "axes.labelcolor": MUTED,
    "axes.edgecolor": LINE,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "figure.facecolor": "white",
}


def new_figure(width: float, height: float) -> Any:
    """An empty figure of this size in inches."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def save_figure(figure: Any, out: Path) -> Path:
    """Write a PNG file without the name of the program, which would change its bytes."""
    figure.savefig(out, dpi=150, metadata={"Software": None})
    return out
