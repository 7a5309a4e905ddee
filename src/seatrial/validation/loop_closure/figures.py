"""An accepted and a rejected hypothesis, side by side with their pictures."""

from pathlib import Path

from seatrial.dataset.pictures.pixels import read_png
from seatrial.dataset.sequence import Dataset
from seatrial.validation.figures import STYLE, new_figure, save_figure
from seatrial.validation.loop_closure.closing import Closures


def draw_closures(data: Dataset, found: Closures, name: str, out: Path) -> Path:
    """The hypotheses with most and with fewest inliers."""
    import matplotlib as mpl

    if not found.pairs:
        return out
    camera = data.cameras[0]
    ordered = sorted(found.pairs, key=lambda pair: pair[2])
    with mpl.rc_context(STYLE):
        figure = new_figure(9.6, 6.4)
        axes = figure.subplots(2, 2)
        for row, (now, before, inliers, accepted) in zip(
            axes, (ordered[-1], ordered[0]), strict=True
        ):
            word = "accepted" if accepted else "rejected"
            for ax, frame in zip(row, (before, now), strict=True):
                ax.imshow(read_png(data.picture(camera, "A", frame)))
                ax.set_axis_off()
                ax.set_title(f"picture {frame}")
            row[0].set_title(f"{name}: {word}, {inliers} inliers · picture {before}")
        return save_figure(figure, out)
