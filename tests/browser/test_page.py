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


def ahead(stage):
    """What the stick orders at last: the left channel's share of its limit."""
    _, told = numbers(stage.latest[1])
    layout, at = stage.hello.vehicles[0], 0
    for part in layout.fields:
        if part.name == "command":
            return told[at] / layout.channels[0].high
        at += part.size
    raise AssertionError


def waited(true, seconds=20.0):
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.05)
    return true()


def test_a_page_that_is_loaded_again_under_way_lets_the_stick_go(opened, browser):
    browser("down", key="KeyW")
    assert waited(lambda: ahead(opened.stage) > 0.99)
    browser("reload")  # the key is still down, and nobody will tell that it goes up
    browser.ready()
    assert waited(lambda: abs(ahead(opened.stage)) < 1e-6)
    told = browser.until("document.querySelector('#events').textContent")
    assert "steered by stick from the page" in told
    browser("up", key="KeyW")


def test_keys_released_while_the_connection_is_lost_are_released(opened, browser):
    browser("down", key="KeyW")
    assert waited(lambda: ahead(opened.stage) > 0.99)
    browser.js("seatrial.connection.drop()")
    browser.until("document.body.classList.contains('lost')")
    browser("up", key="KeyW")
    browser.until("!document.body.classList.contains('lost')")
    assert waited(lambda: abs(ahead(opened.stage)) < 1e-6)


def test_a_free_camera_takes_the_keys_and_lets_the_vessel_go(opened, browser):
    browser("down", key="KeyW")
    assert waited(lambda: ahead(opened.stage) > 0.99)
    browser("choose", selector="#camera", value="free")
    assert waited(lambda: abs(ahead(opened.stage)) < 1e-6)
    browser("up", key="KeyW")


def test_who_points_at_a_control_drives_on_by_keys(opened, browser):
    """A mouse leaves the focus in a list or on a button; keys would choose another camera."""
    focus = "document.activeElement.id"
    box = browser.js(
        "(({x, y}) => [x + 5, y + 5])(document.querySelector('#release').getBoundingClientRect())"
    )
    browser("click", x=box[0], y=box[1])
    assert browser.js(focus) != "release"
    browser.js(
        "(() => { const s = document.querySelector('#camera'); s.focus();"
        "window.dispatchEvent(new PointerEvent('pointerdown'));"
        "s.value = 'orbit'; s.dispatchEvent(new Event('change', {bubbles: true})); })()"
    )
    assert browser.js(focus) != "camera"
    browser("down", key="KeyW")
    assert waited(lambda: ahead(opened.stage) > 0.99)
    browser("up", key="KeyW")
    assert browser.js("seatrial.page().world.cameras.eye.kind") == "orbit"


def test_who_has_no_mouse_presses_a_button_with_space(opened, browser):
    browser.js("document.querySelector('#panel-toggle').focus()")
    browser("press", key="Space")
    assert browser.js("document.body.classList.contains('alone')")
    assert opened.stage.playing
    browser.js("document.activeElement.blur()")
    browser("press", key="Space")
    assert waited(lambda: not opened.stage.playing)


def test_events_of_a_run_are_forgotten_with_it(opened, browser):
    browser("press", key="KeyG")
    browser("down", key="KeyW")
    browser.until("document.querySelector('#events').textContent.includes('steered by stick')")
    browser("up", key="KeyW")
    browser("push", selector="#reset")
    told = "document.querySelector('#events').textContent"
    browser.until(f"{told}.includes('reset') && !{told}.includes('steered')")
    browser("open", "b", url=opened.url + COARSE)
    try:
        browser.ready("b")
        assert browser.until(told, "b") == browser.js(told)
    finally:
        browser("close", "b")


def test_a_picture_that_the_driver_drops_comes_back(opened, browser):
    loses = "seatrial.page().world.renderer.getContext().getExtension('WEBGL_lose_context')"
    notice = "document.querySelector('#notice')"
    browser.js(f"(window.loses = {loses}).loseContext()")
    browser.until(f"{notice}.textContent.includes('dropped the picture')")
    browser.js("loses.restoreContext()")
    browser.until(f"{notice}.textContent.includes('is back')")
    before = browser.js("seatrial.page().world.time")
    browser.until(f"seatrial.page().world.time > {before} + 0.5")
    colours = browser.js(
        "(() => { const c = document.querySelector('#view'), d = document.createElement('canvas');"
        "d.width = 32; d.height = 20; const g = d.getContext('2d'); g.drawImage(c, 0, 0, 32, 20);"
        "return [...g.getImageData(0, 0, 32, 20).data]; })()"
    )
    assert np.std(np.reshape(colours, (-1, 4))[:, :3]) > 10.0  # sky and water, not one colour


def test_without_webgl_there_are_instruments_and_it_says_so(live, browser):
    refuse = (
        "const get = HTMLCanvasElement.prototype.getContext;"
        "HTMLCanvasElement.prototype.getContext = function (kind, ...more) {"
        "return kind.startsWith('webgl') ? null : get.call(this, kind, ...more); };"
    )
    browser("open", "n", url=live.url, before=refuse)
    try:
        browser.ready("n")
        assert "no WebGL" in browser.js("document.querySelector('#notice').textContent", "n")
        assert not browser.js("document.querySelector('#notice').hidden", "n")
        browser.until("document.querySelector('[data-value=speed]').textContent !== ''", "n")
        browser("down", "n", key="KeyW")
        assert waited(lambda: ahead(live.stage) > 0.99)
        browser("up", "n", key="KeyW")
        assert waited(lambda: abs(ahead(live.stage)) < 1e-6)
    finally:
        browser("close", "n")


def test_another_seed_while_driving_keeps_the_view(plan, browser):
    with serving(stage_of(plan)) as served:
        browser("open", "s", url=f"{served.url}{COARSE}#camera=orbit&distance=33", width=1000)
        browser.ready("s")
        browser("choose", "s", selector="#camera", value="map")
        browser("down", "s", key="KeyW")
        assert waited(lambda: ahead(served.stage) > 0.99)
        browser.js(
            "(() => { document.querySelector('#seed').value = '77';"
            "[...document.querySelectorAll('#weather button')].at(-1).click(); })()",
            "s",
        )
        browser.until("seatrial.page()?.hello.seed === 77", "s", seconds=120.0)
        browser.ready("s")
        assert browser.js("seatrial.page().world.cameras.eye.kind", "s") == "map"
        assert served.stage.hello.seed == 77
        browser("up", "s", key="KeyW")
        browser("close", "s")


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
