"""A figure that a notebook shows by itself, without pyplot or a magic command."""

import io
from typing import Any

from matplotlib.figure import Figure


class Page(Figure):
    """A matplotlib Figure with a picture of itself for notebooks."""

    _is_laid_out = False

    def get_layout_engine(self) -> Any:
        """As a Figure's, but none while it is written with its axes already where they belong."""
        return None if self._is_laid_out else super().get_layout_engine()

    def savefig(self, fname: Any, **options: Any) -> None:
        """As a Figure's. Axes are laid out first, once: matplotlib would draw everything in vain to
        have it done, and then again."""
        layout = self.get_layout_engine()
        if layout is None:
            super().savefig(fname, **options)
            return
        size = self.dpi
        self.dpi = options.get("dpi", size)  # letters are as wide as whole pixels let them
        layout.execute(self)
        self._is_laid_out = True
        try:
            super().savefig(fname, **options)
        finally:
            self.dpi = size
            self._is_laid_out = False
            self.set_layout_engine(layout)  # which matplotlib takes away while it writes

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=100)
        return buffer.getvalue()
