"""Pictures of the page for the documents: `python tests/browser/screenshots.py FOLDER [NAME…]`."""

import sys
import time
from pathlib import Path

from chromium import Chromium, serving

import seatrial as st
from seatrial.engine.engine import Engine
from seatrial.engine.exchange.controllers import Controllers
from seatrial.viewer.live import Live

VIEWS = {
    # name: scenario, what is changed in it, until when it runs (s), the view
    "surface": (
        "demo",
        {},
        20.0,
        "vehicle=otter&camera=orbit&around=0.75&above=0.12&distance=5.5&sun=low",
    ),
    "bottom": (
        "remus100-survey",
        {"world": "rolling-seabed"},
        25.0,
        "camera=chase&around=0.6&above=0.22&distance=4&sun=noon",
    ),
    "swarm": ("smarty-swarm", {}, 10.0, "camera=orbit&above=0.9&distance=25&sun=day"),
    "channel": ("otters-channel", {}, 30.0, "camera=orbit&above=0.35&distance=30&sun=day"),
}


def take(browser: Chromium, folder: Path, name: str) -> None:
    """One picture of a run that was brought to an interesting moment."""
    scenario, changes, until, view = VIEWS[name]
    described = st.load(scenario, st.Scenario)
    if changes:
        described = described.model_copy(update=changes)
    plan = st.compile_scenario(described)
    with Engine(plan) as engine:
        stage = Live(engine, Controllers({}))
        stage.playing = False
        with serving(stage) as served:
            url = f"{served.url}?quality=lowest#{view}"
            browser("open", url=url, width=1280, height=720)
            browser.ready()
            browser.js("seatrial.connection.send({type: 'speed', factor: 20})")
            browser.js("seatrial.connection.send({type: 'play'})")
            browser.until(f"seatrial.page().buffer.last.time > {until}", seconds=300.0)
            browser.js("seatrial.connection.send({type: 'pause'})")
            browser.until("!seatrial.page().buffer.last.playing")
            time.sleep(4.0)  # the camera comes to rest
            browser.js("seatrial.shownOnDemand.on = true")
            browser.js("(seatrial.page().world.setQuality(1, false), seatrial.page().frame())")
            browser("picture", path=str(folder / f"{name}.png"))
            for error in browser("errors"):
                print(f"{name}: {error}", file=sys.stderr)
            browser("close")


if __name__ == "__main__":
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    chromium = Chromium()
    try:
        for wanted in sys.argv[2:] or VIEWS:
            take(chromium, out, wanted)
    finally:
        chromium.quit()
