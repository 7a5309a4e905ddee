"""How the page looks: colours that colour-blind readers can tell apart, one type size system."""

from typing import Any

INK = "#1f2933"
MUTED = "#66727f"
RED = "#b3261e"
"""Faults, and fences."""
WATER = "#9ccbe6"
SEABED = "#a58b6f"

PALETTE = ("#0072b2", "#d55e00", "#009e73", "#aa4499", "#b8860b", "#332288", "#88331f", "#4c9bd1")
"""After Okabe and Ito (2008), darkened where white paper needs it."""

STYLE: Any = {
    "font.family": ["DejaVu Sans"],
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 4,
    "axes.titley": 1.0,  # no axis is above: looking for one takes a tenth of the time of a page
    "axes.titlecolor": INK,
    "axes.labelsize": 9,
    "axes.labelcolor": MUTED,
    "axes.edgecolor": "#b8c2cc",
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "axes.formatter.limits": (-4, 5),
    "grid.color": "#e6ebf0",
    "grid.linewidth": 0.7,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "lines.linewidth": 1.3,
    "lines.solid_capstyle": "round",
    "legend.frameon": False,
    "legend.fontsize": 8,
    "legend.handlelength": 1.3,
    "legend.handletextpad": 0.5,
    "legend.borderpad": 0.1,
    "legend.borderaxespad": 0.0,
    "legend.columnspacing": 0.9,
    "legend.labelcolor": INK,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "path.simplify": True,
    "agg.path.chunksize": 20000,
    "svg.hashsalt": "seatrial",
    "svg.fonttype": "none",  # text stays text, which a journal can edit and search
    "pdf.fonttype": 42,  # and fonts are embedded as TrueType
}
