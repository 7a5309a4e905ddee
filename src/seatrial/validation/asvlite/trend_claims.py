"""The five trends that the ASVLite paper reads from its figure 2, put to the test.

A mean over replicates has a standard error; a trend counts when the difference it speaks of is
more than three of them (one in 740 by chance). Where runs share a sea the difference is taken sea
by sea. Runs in which the vessel turned over are counted, and left out of the means.
"""

import numpy as np
from numpy.typing import NDArray

from seatrial.validation.asvlite.trends import Trends, standard_error
from seatrial.validation.claims import Claim

Array = NDArray[np.float64]
LEAST_Z = 3.0
"""Standard errors that a difference must exceed."""
HEAVE_SPREAD = 0.05
"""Standard deviation over headings, relative to the mean, that still counts as none."""


def judge(trends: Trends, still: Trends) -> list[Claim]:
    """The five trends, what becomes of the second without thrust, and how the runs ended."""
    return [
        _heave_grows(trends),
        _rises_then_falls(over_headings(trends, "roll"), trends.grid.heights, "roll"),
        _rises_and_levels_off(trends, "pitch"),
        _rises_then_falls(_at(still, "pitch", (180.0,)), still.grid.heights, "at rest, pitch"),
        _heave_ignores_heading(trends),
        _pitch_by_heading(trends),
        _roll_by_heading(trends),
        Claim(
            "every vessel covers its 50 m",
            trends.unfinished == 0,
            f"{trends.unfinished} of {trends.grid.runs} did not; {trends.overturned} turned over"
            " on the way",
        ),
    ]


def over_headings(trends: Trends, motion: str) -> Array:
    """Mean over the headings of every sea, (heights, replicates); 360° is 0° again."""
    headings = np.array(trends.grid.headings_deg)
    mean: Array = np.nanmean(trends.amplitudes[motion][:, headings < 360.0], axis=1)
    return mean


def _heave_grows(trends: Trends) -> Claim:
    heave = np.mean(over_headings(trends, "heave"), axis=-1)
    ratio = heave / np.array(trends.grid.heights)
    return Claim(
        "heave grows with wave height",
        bool(np.all(np.diff(heave) > 0)),
        f"{heave[0]:.3f} m to {heave[-1]:.3f} m, between {ratio.min():.2f} and {ratio.max():.2f}"
        " of the significant height throughout: the hull follows the surface",
    )


def _rises_then_falls(values: Array, heights: tuple[float, ...], what: str) -> Claim:
    """Highest between the ends; `values` are (heights, replicates)."""
    mean, variance = np.nanmean(values, axis=-1), standard_error(values) ** 2
    top, last = int(np.argmax(mean)), len(mean) - 1
    rise, fall = (
        (mean[top] - mean[end]) / np.sqrt(variance[top] + variance[end]) for end in (0, last)
    )
    return Claim(
        f"{what} rises, then falls with wave height",
        bool(rise > LEAST_Z and fall > LEAST_Z),
        f"{mean[0]:.2f}° at {heights[0]:g} m, {mean[top]:.2f}° at {heights[top]:g} m, "
        f"{mean[last]:.2f}° at {heights[last]:g} m ({rise:.0f} and {fall:.0f} standard errors)",
    )


def _rises_and_levels_off(trends: Trends, motion: str) -> Claim:
    """Where the paper sees a fall; see docs/studies.md for the reason."""
    values = over_headings(trends, motion)
    mean, variance = np.nanmean(values, axis=-1), standard_error(values) ** 2
    half, last = len(mean) // 2, len(mean) - 1
    first, second = mean[half] - mean[0], mean[last] - mean[half]
    error = np.sqrt(variance[0] + 4.0 * variance[half] + variance[last])
    heights = trends.grid.heights
    return Claim(
        f"{motion} rises with wave height and levels off (the paper: then falls)",
        bool(first - second > LEAST_Z * error and abs(second) < 0.25 * first),
        f"{mean[0]:.2f}° at {heights[0]:g} m, {mean[half]:.2f}° at {heights[half]:g} m, "
        f"{mean[last]:.2f}° at {heights[last]:g} m; highest at {heights[int(np.argmax(mean))]:g} m",
    )


def _heave_ignores_heading(trends: Trends) -> Claim:
    spread = {}
    for motion in ("heave", "roll", "pitch"):
        mean = trends.mean(motion)
        spread[motion] = np.std(mean, axis=1) / np.mean(mean, axis=1)
    return Claim(
        "heave does not depend on heading",
        bool(np.all(spread["heave"] < HEAVE_SPREAD)),
        f"it varies over headings by at most {100 * spread['heave'].max():.1f} % (standard "
        f"deviation over mean); roll by {100 * spread['roll'].mean():.0f} %, pitch by "
        f"{100 * spread['pitch'].mean():.0f} %",
    )


def _pitch_by_heading(trends: Trends) -> Claim:
    head, following, beam = (_at(trends, "pitch", d) for d in ((180.0,), (0.0,), (90.0, 270.0)))
    steps = (head - following, following - beam)
    overall = [float(_z(np.nanmean(step, axis=0))) for step in steps]
    clear = int(np.sum((_z(steps[0]) > LEAST_Z) & (_z(steps[1]) > LEAST_Z)))
    reversed_somewhere = any(bool(np.any(_z(step) < -LEAST_Z)) for step in steps)
    return Claim(
        "pitch is largest in head sea, then following, least in beam",
        min(overall) > LEAST_Z and not reversed_somewhere,
        f"{np.nanmean(head):.1f}°, {np.nanmean(following):.1f}° and {np.nanmean(beam):.1f}° over "
        f"all heights, {overall[0]:.0f} and {overall[1]:.0f} standard errors apart; clear at "
        f"{clear} of {len(head)} heights, and nowhere the other way round",
    )


def _roll_by_heading(trends: Trends) -> Claim:
    head, following, beam = (_at(trends, "roll", d) for d in ((180.0,), (0.0,), (90.0, 270.0)))
    first, second = _z(beam - head), _z(beam - following)
    return Claim(
        "roll is largest in beam sea",
        bool(np.all(first > LEAST_Z) and np.all(second > LEAST_Z)),
        f"{np.nanmean(beam):.1f}° in beam, {np.nanmean(head):.1f}° in head and "
        f"{np.nanmean(following):.1f}° in following sea; at every height at least "
        f"{min(first.min(), second.min()):.0f} standard errors apart",
    )


def _at(trends: Trends, motion: str, headings: tuple[float, ...]) -> Array:
    """Mean over some headings, (heights, replicates)."""
    index = [trends.grid.headings_deg.index(h) for h in headings]
    mean: Array = np.mean(trends.amplitudes[motion][:, index], axis=1)
    return mean


def _z(difference: Array) -> Array:
    """Mean over its standard error, along the last axis."""
    z: Array = np.nanmean(difference, axis=-1) / standard_error(difference)
    return z
