"""A page of pictures of dense sensors."""

import base64
import html
import io
from collections.abc import Sequence
from pathlib import Path

from seatrial.errors import RecordingError
from seatrial.figures.instruments import SCREEN, Shot, draw
from seatrial.figures.style import STYLE

_HEAD = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>seatrial: sensors that draw</title>
<style>
  body { margin: 0; padding: 2rem; background: #0b1117; color: #d5e0e7;
         font: 15px/1.5 system-ui, sans-serif; }
  h1 { font-weight: 600; margin: 0 0 1.5rem; }
  main { display: grid; gap: 1.5rem;
         grid-template-columns: repeat(auto-fit, minmax(min(460px, 100%), 1fr)); }
  figure { margin: 0; background: #05080c; border: 1px solid #1d2a34; border-radius: 6px;
           padding: 1rem; }
  img { width: 100%; height: auto; }
  @media (max-width: 560px) { body { padding: .75rem; } }
  figcaption { margin-top: .5rem; color: #9fb6c3; }
  figcaption b { color: #f2f6f8; }
</style>
<h1>Sensors that draw</h1>
<main>
"""


def picture(shot: Shot) -> bytes:
    """One picture as PNG, the same bytes every time."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        page = Figure(figsize=(6.25, 5.0), layout="constrained", facecolor=SCREEN)
        FigureCanvasAgg(page)
        draw(page.subplots(), shot)
        kept = io.BytesIO()
        page.savefig(kept, format="png", dpi=170, facecolor=SCREEN, metadata={"Software": None})
    return kept.getvalue()


def write_gallery(shots: Sequence[Shot], out: Path) -> None:
    """One page that needs no other file."""
    parts = [_HEAD]
    for shot in shots:
        coded = base64.b64encode(picture(shot)).decode()
        title, caption = html.escape(shot.title), html.escape(shot.caption)
        parts.append(
            f'<figure><img alt="{title}" src="data:image/png;base64,{coded}">\n'
            f"<figcaption><b>{title}.</b> {caption}</figcaption></figure>\n"
        )
    try:
        out.write_text("".join([*parts, "</main>\n</html>\n"]), encoding="utf-8")
    except OSError as error:
        raise RecordingError(
            f"{out}: cannot write the page ({error.strerror or error})\n"
            "  expected: a file in a folder that exists and is writable"
        ) from error
