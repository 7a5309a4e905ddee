"""The study of waypoint handover, as tables, numbers and claims."""

from pathlib import Path

import numpy as np

from seatrial.validation.findings import Findings, Table, Watch, rounded
from seatrial.validation.handover import course
from seatrial.validation.handover.figures import draw_corners, draw_course, draw_step


def handover(out: Path, sample: bool, watch: Watch) -> Findings:
    """Figures 2.3 to 2.11: a step, and handovers hard, soft and double."""
    found = course.run_study(sample)
    draw_step(found.step, out / "handover-step.png")
    draw_course(found.hard, found.soft, out / "handover-course.png")
    draw_corners(found, out / "handover-corners.png")
    past, settled = course.overshoot(found.step), course.settling_time(found.step)
    runs = {"hard": found.hard, "soft": found.soft}
    speeds = {name: run.speed()[run.handovers()] for name, run in runs.items()}
    near = {name: course.nearest(run, course.COURSE) for name, run in runs.items()}
    heights = {c: [found.height(c, v) for v in found.limits] for c in found.corners}
    limits = ["none" if np.isinf(v) else f"{v:g} N/s" for v in found.limits]
    tables = [
        Table(
            "Figure 2.3: unit step",
            ["", "s_x", "s_y", "s_z", "θ_x", "θ_y", "θ_z"],
            [
                ["overshoot", *(f"{100 * v:.1f} %" for v in past)],
                ["within 2 % after", *(f"{v:.1f} s" for v in settled)],
            ],
        ),
        Table(
            "Figures 2.4 and 2.7: at the handovers",
            ["waypoint", "threshold", "speed, hard", "soft", "nearest, hard", "soft"],
            [
                [
                    str(i + 1),
                    f"{course.COURSE_THRESHOLDS[i]:g}",
                    *(f"{speeds[name][i]:.2f} m/s" for name in runs),
                    *(f"{near[name][i]:.2f} m" for name in runs),
                ]
                for i in range(len(near["hard"]))
            ],
        ),
        Table(
            "Figure 2.11: largest s_z on the way to (1, 1, 1)",
            ["limit on v₁", "single", "double", "eq. 2.23 to the letter"],
            [
                ["thesis (limit not printed)", "≈ 0.85 m", "≈ 0.95 m", "–"],
                *(
                    [limit, *(f"{heights[c][i]:.2f} m" for c in ("single", "double", "eq. 2.23"))]
                    for i, limit in enumerate(limits)
                ),
            ],
        ),
    ]
    numbers = {
        "mass": course.MASS,
        "radius": course.RADIUS,
        "degree": course.DEGREE,
        "overshoot": rounded(past),
        "settling_time": rounded(settled),
        "waypoints": course.COURSE.tolist(),
        "handover_speed": {name: rounded(v) for name, v in speeds.items()},
        "nearest": {name: rounded(v) for name, v in near.items()},
        "handover_time": {n: rounded(r.time[r.handovers()]) for n, r in runs.items()},
        "limits": [None if np.isinf(v) else v for v in found.limits],
        "height": {case: rounded(v) for case, v in heights.items()},
        "height_printed": course.PRINTED,
    }
    return Findings(numbers, tables, course.judge(found))
