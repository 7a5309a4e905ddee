"""A figure that a notebook shows by itself, without pyplot or a magic command."""

import io

from matplotlib.figure import Figure


class Page(Figure):
    """A matplotlib Figure with a picture of itself for notebooks."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=100)
        return buffer.getvalue()
