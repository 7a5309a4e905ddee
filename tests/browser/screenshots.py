"""Pictures of the page for the documents: `python tests/browser/screenshots.py FOLDER [NAME…]`."""

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chromium import Chromium, serving

import seatrial as st
from seatrial.engine.engine import Engine
from seatrial.engine.exchange.controllers import Controllers
from seatrial.viewer.live import Live
from seatrial.viewer.messages import read_request
from seatrial.viewer.stage import Stage
from seatrial.viewing import stage_of

SIZE = {"width": 1280, "height": 720}
SLACK = 4.0
"""The last seconds are stepped, so that a busy machine takes the same moment, s."""


@dataclass(frozen=True)
class View:
    """What runs, the simulated time at which it is taken (s), and the link to the view."""

    scenario: str | dict[str, Any]
    until: float
    link: str
    script: str = "0"
    """What is done on the page before the picture is taken."""
    recorded: bool = False


DIVER = {
    "name": "wreck",
    "seed": 4,
    "duration": 120,
    "world": "wreck-site",
    "vehicles": [
        {
            "name": "remus",
            "vehicle": "remus100_mss",
            "start": {"position": [-70, -6, 14.5], "speed": 1.5, "heading_deg": 12},
            "feedback": "truth",
            "mission": [
                {"do": "goto", "waypoints": [[10, 4, 14.5]], "speed": 1.5, "acceptance": 3}
            ],
            "sensors": [
                {
                    "type": "imaging_sonar",
                    "name": "sonar",
                    "rate": 4,
                    "position": [0.7, 0, 0.05],
                    "pitch_deg": -14,
                    "range": 30,
                },
                {"type": "dvl", "name": "dvl", "rate": 5, "position": [-0.1, 0, 0.1]},
            ],
        }
    ],
}
HARBOUR = {
    "name": "harbour",
    "seed": 1,
    "duration": 300,
    "world": "harbour",
    "vehicles": [
        {
            "name": "wamv",
            "vehicle": "wamv",
            "start": {"position": [-40, -6, 0], "heading_deg": 0, "speed": 1.5},
            "feedback": "truth",
            "mission": [
                {
                    "do": "goto",
                    "waypoints": [[0, 0], [26, 14], [26, 40]],
                    "speed": 1.5,
                    "acceptance": 5,
                }
            ],
            "sensors": [
                {
                    "type": "lidar",
                    "name": "lidar",
                    "rate": 5,
                    "position": [0.6, 0, -1.9],
                    "model": "os1_64",
                }
            ],
        }
    ],
}
SWARM = {
    "name": "swarm",
    "seed": 1,
    "duration": 60,
    "time_step": 0.04,
    "integrator": "semi_implicit",
    "control_period": 0.2,
    "frame_period": 0.2,
    "world": {
        "name": "chop",
        "waves": {
            "spectrum": "pierson_moskowitz",
            "significant_height": 0.35,
            "towards_deg": 60,
            "spreading": "cos2",
        },
    },
    "vehicles": [
        {
            "name": "smarty",
            "vehicle": "smarty",
            "count": 300,
            "formation": "grid",
            "spacing": 1.6,
            "commands": {"fore_port": 2.0, "fore_starboard": 1.2, "aft_port": 2.0},
        }
    ],
}

SENSORS = "document.querySelector('#sensors').scrollIntoView()"

VIEWS = {
    "surface": View("demo", 31.0, "camera=orbit&around=0.85&above=0.1&distance=6&sun=low"),
    "bottom": View(
        DIVER,
        16.0,
        "camera=chase&around=0.95&above=0.5&distance=8&sun=noon&sensor=sonar",
        SENSORS,
    ),
    "harbour": View(
        HARBOUR,
        26.0,
        "camera=chase&around=0.5&above=0.35&distance=22&sun=day&sensor=lidar",
        SENSORS,
    ),
    "swarm": View(
        SWARM, 23.4, "vehicle=smarty_150&camera=orbit&around=2.6&above=1.0&distance=21&sun=day"
    ),
    "playback": View(
        "otter-survey",
        150.0,
        "camera=chase&around=2.3&above=0.3&distance=9&sun=day&time=95",
        "document.querySelector('#charts').scrollIntoView()",
        recorded=True,
    ),
}


@contextmanager
def staged(view: View) -> Iterator[Stage]:
    """The stage of a picture, standing still."""
    described = view.scenario
    scenario = described if isinstance(described, str) else st.Scenario(**described)
    if view.recorded:
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "run.mcap"
            st.run(st.compile_scenario(scenario), duration=view.until, out=out)
            stage = stage_of(out)
            stage.playing = False
            yield stage
        return
    with Engine(st.compile_scenario(scenario)) as engine:
        stage = Live(engine, Controllers({}))
        stage.playing = False
        yield stage


def take(browser: Chromium, folder: Path, name: str) -> None:
    """One picture of a run that was brought to an interesting moment."""
    view = VIEWS[name]
    with staged(view) as stage, serving(stage) as served:
        browser("open", url=f"{served.url}?quality=lowest#{view.link}", **SIZE)
        browser.ready()
        if not view.recorded:
            # Asked of the stage itself: a page that draws slowly would hear of the moment too late.
            stage.ask(read_request.validate_python({"type": "play"}), print)
            while stage.time < view.until - SLACK:
                time.sleep(0.01)
            stage.ask(read_request.validate_python({"type": "pause"}), print)
            browser.until("!seatrial.page().buffer.last.playing", seconds=600.0)
            while (now := browser.js("seatrial.page().buffer.last.time")) < view.until - 1e-6:
                browser.js("seatrial.connection.send({type: 'step'})")
                browser.until(f"seatrial.page().buffer.last.time > {now}")
        time.sleep(4.0)  # the camera comes to rest, and the last samples arrive
        browser.js(view.script)
        time.sleep(1.0)
        browser.js("seatrial.shownOnDemand.on = true")
        browser.js("(seatrial.page().world.setQuality(1, false), seatrial.page().frame())")
        browser("picture", path=str(folder / f"{name}.png"))
        for error in browser("errors"):
            print(f"{name}: {error}", file=sys.stderr)
        browser("close")


if __name__ == "__main__":
    out = Path(sys.argv[1]).resolve()  # the browser has a folder of its own
    out.mkdir(parents=True, exist_ok=True)
    chromium = Chromium()
    try:
        for wanted in sys.argv[2:] or VIEWS:
            take(chromium, out, wanted)
    finally:
        chromium.quit()
