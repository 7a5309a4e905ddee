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
    # name: scenario, simulated time at which it is taken (s), the view
    "surface": ("demo", 20.0, "camera=orbit&around=0.75&above=0.12&distance=5.5&sun=low"),
    "bottom": (
        "remus100-seabed-survey",
        60.0,
        "camera=chase&around=0.6&above=0.25&distance=4&sun=noon",
    ),
    "harbour": (
        "wamv-harbour-tour",
        40.0,
        "camera=chase&around=0.5&above=0.35&distance=30&sun=day",
    ),
    "swarm": ("smarty-swarm", 5.0, "camera=orbit&above=0.7&distance=18&sun=day"),
}


def take(browser: Chromium, folder: Path, name: str) -> None:
    """One picture of a run that was brought to an interesting moment."""
    scenario, until, view = VIEWS[name]
    with Engine(st.compile_scenario(scenario)) as engine:
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
