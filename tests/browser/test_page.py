"""The page in a real browser, headless, with WebGL in software."""

import struct
import time

import numpy as np
import pytest
from chromium import serving

import seatrial as st
from seatrial.engine.engine import Engine
from seatrial.engine.exchange.controllers import Controllers
from seatrial.viewer.live import Live
from seatrial.viewing import stage_of
from shown import SCENARIO

COARSE = "?quality=lowest"
SHOWN = "seatrial.page().layout.of(seatrial.page().buffer.last.numbers, 0, '{}')"


@pytest.fixture(scope="module")
def plan():
    return st.compile_scenario(st.Scenario(**SCENARIO))


@pytest.fixture(scope="module")
def engine(plan):
    with Engine(plan, stepped=True) as made:
        yield made


@pytest.fixture
def live(engine):
    engine.reset()
    with serving(Live(engine, Controllers({}))) as served:
        yield served


@pytest.fixture
def opened(live, browser):
    """The page of a live run, ready."""
    assert browser("open", url=live.url + COARSE) == 200
    browser.ready()
    yield live
    browser("close")


def numbers(message):
    """Time and numbers of a state."""
    return struct.unpack_from("<d", message)[0], np.frombuffer(message, "<f4", offset=24)


def shown(browser, part, page="a"):
    return np.array(list(browser.js(f"Array.from({SHOWN.format(part)})", page)))


def paused(browser, served, page="a"):
    """Pause, and wait until the page shows the server's last state."""
    if served.stage.playing:
        browser("push", page, selector="#play")
    browser.until("!seatrial.page().buffer.last.playing", page)
    browser.until(f"seatrial.page().buffer.last.sequence >= {served.stage.latest[0]}", page)


def test_it_loads_without_errors_and_asks_nobody_else(opened, browser):
    browser.until("seatrial.page().world.time > 1")
    assert browser("errors") == []
    own = (opened.url, opened.url.replace("http", "ws"), "data:", "blob:")
    assert [url for url in browser("requests") if not url.startswith(own)] == []
    assert browser.js("document.querySelector('#scenario').textContent") != ""


def test_the_vessel_is_drawn_where_the_server_says(opened, browser):
    browser.until("seatrial.page().world.time > 1")
    paused(browser, opened)
    browser.until("seatrial.page().world.time === seatrial.page().buffer.last.time")
    at, told = numbers(opened.stage.latest[1])
    drawn = browser.js("[seatrial.page().world.time, ...seatrial.page().world.fleet.places[0]]")
    assert drawn[0] == at
    assert np.allclose(drawn[1:], [told[0], -told[2], told[1]], atol=1e-6)
    said = f"N {told[0]:.1f} m, E {told[1]:.1f} m"  # the panel follows the picture
    browser.until(f"document.querySelector('[data-value=position]').textContent === '{said}'")


def test_the_drawn_water_is_the_water_of_the_physics(opened, browser, plan):
    """At 100 places within 200 m, a while into the run; the shader reads back in millimetres."""
    browser.until("seatrial.page().world.time > 2")
    paused(browser, opened)
    time.sleep(0.3)
    rng = np.random.default_rng(5)
    local = rng.uniform(-200.0, 200.0, (100, 2))
    at, north, east, *drawn = browser.js(
        "(() => { const w = seatrial.page().world; const p = w.water.mesh.position;"
        f"return [w.time, p.x, p.z, ...w.water.readBack(w.renderer, {local.tolist()})]; }})()"
    )
    physics = plan.scene.elevation(north + local[:, 0], east + local[:, 1], at)
    assert np.std(physics) > 0.2
    assert np.max(np.abs(np.array(drawn) - physics)) < 1e-3


def test_keys_drive_the_vessel(opened, browser):
    browser("down", key="KeyW")
    browser("down", key="KeyA")
    try:
        high = opened.stage.hello.vehicles[0].channels[0].high
        deadline = time.monotonic() + 20
        while not np.allclose(shown(browser, "command"), [0.5 * high, high], rtol=1e-4):
            assert time.monotonic() < deadline, shown(browser, "command")
            time.sleep(0.1)
        browser.until(f"{SHOWN.format('velocity')}[5] < -0.1")  # its timetable turns to starboard
    finally:
        browser("up", key="KeyW")
        browser("up", key="KeyA")
    browser.until(f"Math.abs({SHOWN.format('command')}[0]) < 1e-6")
    browser("press", key="KeyG")
    browser.until(f"Math.abs({SHOWN.format('command')}[0] - 10) < 1e-3")  # its timetable again


def test_pause_step_and_speed(opened, browser):
    paused(browser, opened)
    before = browser.js("seatrial.page().buffer.last.time")
    time.sleep(0.5)
    assert browser.js("seatrial.page().buffer.last.time") == before
    browser("push", selector="#step")
    browser.until(f"Math.abs(seatrial.page().buffer.last.time - {before + 0.1}) < 1e-6")
    browser("choose", selector="#speed", value="5")
    browser("push", selector="#play")
    browser.until("seatrial.page().buffer.last.playing")
    assert opened.stage.speed == 5.0
    browser("choose", selector="#speed", value="0.1")
    browser.until("seatrial.page().buffer.last.speed < 0.2")
    browser("push", selector="#reset")
    browser.until("seatrial.page().buffer.last.run === 2")
    assert browser.js("seatrial.page().buffer.last.time") < 3.0


def test_a_lost_connection_is_told_and_comes_back(opened, browser):
    opened.stop()
    browser.until("document.body.classList.contains('lost')")
    text = browser.js("document.querySelector('#notice').textContent")
    assert text.startswith("No connection to the simulation")
    before = opened.stage.time
    opened.start()
    browser.until("!document.body.classList.contains('lost')")
    browser.until(f"seatrial.page().buffer.last?.time > {before}")
    assert browser.js("document.querySelector('#notice').hidden")


def test_two_pages_see_the_same(opened, browser):
    browser("open", "b", url=opened.url + COARSE)
    try:
        browser.ready("b")
        paused(browser, opened)
        browser.until(f"seatrial.page().buffer.last.sequence >= {opened.stage.latest[0]}", "b")
        one, other = (
            browser.js("[...seatrial.page().buffer.last.numbers]", page) for page in ("a", "b")
        )
        assert one == other
        assert browser.until("document.querySelector('#seats').textContent") == "2 watching"
    finally:
        browser("close", "b")


def test_a_wrong_token_is_refused(engine, browser):
    engine.reset()
    with serving(Live(engine, Controllers({})), operator="right") as served:
        assert browser("open", url=f"{served.url}?token=wrong") == 403
        browser("close")
        assert browser("open", url=f"{served.url}?token=right&quality=lowest") == 200
        browser.ready()
        browser("close")


def test_a_recording_is_scrubbed_to_the_right_state(plan, browser, tmp_path):
    out = tmp_path / "run.mcap"
    frames = st.run(plan, duration=5.0, out=out).dataset.isel(vehicle=0)
    with serving(stage_of(out)) as served:
        browser("open", url=f"{served.url}{COARSE}#camera=orbit&distance=12&time=4.0")
        browser.ready()
        browser.until("Math.abs(seatrial.page().buffer.last.time - 4.0) < 1.01")  # the link's time
        paused(browser, served)
        for asked in (2.5, 0.7, 3.3):
            browser.js(
                "(() => { const t = document.querySelector('#timeline');"
                f"t.value = '{asked}'; t.dispatchEvent(new Event('input')); }})()"
            )
            browser.until(f"Math.abs(seatrial.page().buffer.last.time - {asked}) < 1e-6")
            now = frames.sel(time=asked, method="nearest")
            assert np.allclose(shown(browser, "position"), now.position.values, atol=1e-5)
            assert np.allclose(shown(browser, "attitude"), now.attitude.values, atol=1e-6)
        assert browser("errors") == []
        browser("close")


def test_a_click_on_the_water_sends_the_vessel_there(browser):
    mission = [{"do": "velocity", "surge": 1.0, "duration": 600}]
    craft = {"name": "otter", "vehicle": "otter", "feedback": "truth", "mission": mission}
    plan = st.compile_scenario(st.Scenario(duration=60.0, vehicles=[craft]))
    with Engine(plan, stepped=True) as engine, serving(Live(engine, Controllers({}))) as served:
        url = f"{served.url}{COARSE}#camera=map&distance=60"
        browser("open", url=url, width=1000, height=600)
        browser.ready()
        browser("push", selector="#waypoint")
        browser("click", x=600, y=200)  # above and to the right of the middle: ahead, to starboard
        browser.until("seatrial.page().world.marker.visible")
        north, _, east = browser.js("[...seatrial.page().world.marker.position]")
        assert min(north, east) > 5.0
        browser.until(
            "document.querySelector('#events').textContent.includes('sent to a waypoint')"
        )
        bearing = np.arctan2(east, north)
        browser("choose", selector="#speed", value="5")

        def off():
            w, x, y, z = shown(browser, "attitude")
            heading = np.arctan2(2 * (x * y + w * z), 1 - 2 * (y * y + z * z))
            return abs((heading - bearing + np.pi) % (2 * np.pi) - np.pi)

        deadline = time.monotonic() + 60.0
        while off() > 0.3:
            assert time.monotonic() < deadline, off()
            time.sleep(0.2)
        browser("close")
