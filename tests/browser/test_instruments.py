"""What the page shows beside the water: sensors, charts, cameras, moving parts, weather, films."""

import time

import numpy as np
import pytest
from chromium import serving

import seatrial as st
from seatrial.viewing import stage_of

SCENARIO = {
    "seed": 5,
    "duration": 30.0,
    "world": {
        "name": "basin",
        "seabed": {"depth": 12},
        "waves": {"spectrum": "jonswap", "significant_height": 0.3, "peak_period": 3.0},
        "bodies": [
            {
                "name": "quay",
                "wall": {"points": [[30, -40], [30, 40]], "height": 22, "thickness": 2},
            },
            {
                "name": "mole",
                "wall": {"points": [[-9, -40], [-9, 40]], "height": 22, "thickness": 2},
            },
        ],
    },
    "vehicles": [
        {
            "name": "otter",
            "vehicle": "otter",
            "start": {"speed": 1.0},
            "commands": {"left_rpm": 500, "right_rpm": 400},
            "sensors": [
                {
                    "type": "lidar",
                    "name": "scanner",
                    "rate": 5,
                    "model": "tim571",
                    "position": [0, 0, -1],
                },
                {"type": "compass", "name": "compass", "rate": 10},
                {"type": "dvl", "name": "dvl", "rate": 5, "position": [0, 0, 0.2]},
            ],
        }
    ],
}
COARSE = "?quality=lowest"
PAGE = "seatrial.page()"


@pytest.fixture(scope="module")
def plan():
    return st.compile_scenario(st.Scenario(**SCENARIO))


def test_a_recording_has_whole_charts_that_zoom(plan, browser, tmp_path):
    out = tmp_path / "run.mcap"
    frames = st.run(plan, duration=6.0, out=out).dataset.isel(vehicle=0)
    stage = stage_of(out)
    stage.playing = False
    with serving(stage) as served:
        url = f"{served.url}{COARSE}#sensor=compass&time=3"
        browser("open", "p", url=url, width=390, height=780)  # a phone
        browser.ready("p")
        assert browser.js("document.body.classList.contains('alone')", "p")  # the picture first
        wide = browser.js("[document.documentElement.scrollWidth, innerWidth]", "p")
        assert wide[0] <= wide[1]
        browser("push", "p", selector="#panel-toggle")
        view = "document.querySelector('#view')"  # what is looked at is not behind the panel
        assert browser.js(f"{view}.getBoundingClientRect().bottom", "p") < 0.56 * 780
        aspect = browser.js(f"{view}.clientWidth / {view}.clientHeight", "p")
        assert browser.js(f"{PAGE}.world.cameras.camera.aspect", "p") == pytest.approx(aspect)
        browser.until(f"{PAGE}.panel.charts[0].chart.times.length === {len(frames.time)}", "p")
        surge = browser.js(f"{PAGE}.panel.charts[0].chart.data[1]", "p")
        assert np.allclose(surge, frames.velocity.values[:, 0], atol=1e-5)
        browser.until(f"{PAGE}.panel.sensors.charts[0].chart.times.length > 5", "p")
        chart = f"{PAGE}.panel.charts[0].chart"
        span = f"(() => {{ const s = {chart}.plot?.scales.x; return s && [s.min, s.max]; }})()"
        whole = browser.until(span, "p")
        assert whole == pytest.approx([0.0, 6.0])
        browser.js(
            "(() => { const c = document.querySelector('#charts .chart'); c.focus();"
            "const b = c.querySelector('.u-over').getBoundingClientRect();"
            "c.dispatchEvent(new WheelEvent('wheel', {deltaY: -400, bubbles: true,"
            "clientX: b.left + b.width / 2, clientY: b.top + 5})); })()",
            "p",
        )
        browser.until(f"{span}[1] - {span}[0] < 4", "p")
        assert sum(browser.js(span, "p")) / 2 == pytest.approx(3.0, abs=0.3)
        assert browser("errors", "p") == []
        browser("close", "p")


@pytest.fixture(scope="module")
def live(plan, browser):
    """One live run for all tests of this file: loading a page costs the most."""
    with serving(stage_of(plan)) as served:
        browser("open", url=f"{served.url}{COARSE}", width=640, height=400)
        browser.ready()
        yield served
        assert browser("errors") == []
        browser("close")


def test_a_tab_shows_what_a_lidar_meets_and_draws_it_where_it_is(live, browser):
    browser("push", selector="[data-sensor=scanner]")
    browser.until(f"{PAGE}.world.rays.points.geometry.getAttribute('position').count > 50")
    north = np.array(
        browser.js(
            f"(() => {{ const p = {PAGE}.world.rays.points.geometry.getAttribute('position');"
            "return Array.from({length: p.count}, (_, i) => p.getX(i)); })()"
        )
    )
    walls = np.minimum(np.abs(north - 30.0), np.abs(north + 9.0))
    assert np.median(walls) < 1.2  # a metre to either side are the faces of the walls
    picture = browser.js(
        "(() => { const c = document.querySelector('canvas.picture');"
        "const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
        "let lit = 0; for (let i = 0; i < d.length; i += 4) lit += d[i + 1] > 120; return lit; })()"
    )
    assert picture > 30


def test_a_plot_holds_the_measurement_and_the_truth_beside_it(live, browser):
    browser("push", selector="[data-sensor=compass]")
    truths = f"{PAGE}.panel.sensors.charts[0]?.chart.data[2]"
    browser.until(f"{truths}?.filter((v) => Number.isFinite(v)).length > 5")
    measured, truth = (
        np.array(browser.js(f"{PAGE}.panel.sensors.charts[0].chart.data[{i}]"), dtype=float)
        for i in (1, 2)
    )
    there = np.isfinite(truth)
    assert np.median(np.abs(measured[there] - truth[there])) < np.radians(5.0)
    assert np.std(truth[there]) > 0.0


def test_beams_of_a_dvl_reach_as_far_as_it_measured(live, browser):
    run = browser.js(f"{PAGE}.buffer.last.run")
    browser("push", selector="#reset")  # far from the walls, however slow the machine is
    browser.until(f"{PAGE}.buffer.last.run > {run}")
    browser("push", selector="[data-sensor=dvl]")
    browser.until(f"{PAGE}.world.rays.values.get('dvl')")
    ends = browser.until(
        f"(() => {{ const lines = {PAGE}.world.rays.group.children[0].geometry;"
        "const p = lines.getAttribute('position');"
        "return p.count === 8 && [1, 3, 5, 7].map((i) => p.getY(i)); })()"
    )
    assert np.allclose(ends, -12.0, atol=0.8)  # on the bottom, for waves that lift the boat
    browser("push", selector="[data-sensor=dvl]")  # a second push closes it
    browser.until(f"{PAGE}.panel.sensors.open === null")


def test_propellers_turn_while_the_run_goes_on_and_a_wake_is_left(live, browser):
    angle = f"{PAGE}.world.fleet.kinds[0].parts.angle(0)"
    before = browser.js(angle)
    browser.until(f"Math.abs({angle} - {before}) > 0.01")
    browser.until(f"{PAGE}.world.wakes.mesh.geometry.index?.count > 12")
    browser("push", selector="#play")
    browser.until("!seatrial.page().buffer.last.playing")
    time.sleep(0.5)
    before = browser.js(angle)
    time.sleep(0.5)
    assert browser.js(angle) == before
    browser("push", selector="#play")


def test_the_eye_does_not_go_through_a_wall_and_a_free_one_flies_by_keys(live, browser):
    browser("choose", selector="#camera", value="orbit")
    south = "{around: Math.PI, above: 0.3, distance: 40}"
    browser.js(f"Object.assign({PAGE}.world.cameras.eye, {south})")
    time.sleep(1.0)
    eye, boat = browser.js(
        f"[{PAGE}.world.cameras.camera.position.x, {PAGE}.world.fleet.places[0].x]"
    )
    assert -9.5 < eye < boat  # 40 m to the south would be far behind the mole
    browser("choose", selector="#camera", value="free")
    command = browser.js(f"[...{PAGE}.layout.of({PAGE}.buffer.last.numbers, 0, 'command')]")
    start = browser.js(f"[...{PAGE}.world.cameras.eye.at]")
    browser("down", key="KeyR")
    browser.until(f"{PAGE}.world.cameras.eye.at[1] > {start[1]} + 1")
    browser("up", key="KeyR")
    now = browser.js(f"[...{PAGE}.layout.of({PAGE}.buffer.last.numbers, 0, 'command')]")
    assert now == command  # the boat was not driven
    browser("choose", selector="#camera", value="chase")


def test_another_sea_is_drawn_as_it_pushes(live, browser):
    browser.js(
        "(() => { const i = document.querySelector('#wave_height'); i.value = '0.7';"
        "i.dispatchEvent(new Event('change')); })()"
    )
    browser("choose", selector="#speed", value="20")
    browser.until(f"{PAGE}.world.sea.significantHeight > 0.6", seconds=200.0)
    browser("choose", selector="#speed", value="1")
    browser("push", selector="#play")
    browser.until("!seatrial.page().buffer.last.playing")
    browser.until(f"{PAGE}.world.time === {PAGE}.buffer.last.time")
    time.sleep(0.5)
    drawn, told = browser.js(
        f"[{PAGE}.world.sea.elevation({PAGE}.world.fleet.places[0].x,"
        f"{PAGE}.world.fleet.places[0].z, {PAGE}.world.time),"
        f"{PAGE}.layout.of({PAGE}.buffer.last.numbers, 0, 'elevation')[0]]"
    )
    assert drawn == pytest.approx(told, abs=0.002)
    browser("push", selector="#play")


def test_everything_can_be_reached_and_is_named_without_a_mouse(live, browser):
    unnamed = browser.js(
        "[...document.querySelectorAll('button, select, input, [tabindex]')].filter((e) =>"
        "!(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.length))"
        ".map((e) => e.outerHTML)"
    )
    assert unnamed == []
    browser("press", key="?")
    assert browser.js("document.querySelector('#help').open")
    browser("press", key="Escape")
    assert not browser.js("document.querySelector('#help').open")
    browser.js("document.querySelector('#charts .chart').focus()")
    browser("press", key="+")
    assert not browser.js(f"{PAGE}.panel.window.follows")
    browser("press", key="0")
    assert browser.js(f"{PAGE}.panel.window.follows")
    browser.js("document.querySelector('#charts .chart .unit').click()")
    assert browser.until("document.querySelector('#charts .chart .unit').textContent === 'kn'")
    browser.js("document.activeElement.blur()")
    browser("press", key="KeyV")
    browser.until(f"{PAGE}.world.arrows.group.children.filter((a) => a.visible).length >= 3")


def test_a_picture_and_a_film_are_saved(live, browser):
    browser.js(
        "(() => { window.saved = {}; const made = URL.createObjectURL;"
        "URL.createObjectURL = (b) => { saved.film = [b.type, b.size]; return made(b); };"
        "HTMLAnchorElement.prototype.click = function () {"
        "saved[this.download.split('.').pop()] = this.href.slice(0, 22); }; })()"
    )
    browser("press", key="KeyP")
    browser("push", selector="#film")
    began = browser.js(f"{PAGE}.world.time")
    browser.until(f"{PAGE}.world.time > {began} + 1")  # some pictures, on a busy machine too
    browser("push", selector="#film")
    saved = browser.until("saved.webm && saved")
    assert saved["png"] == "data:image/png;base64,"
    assert saved["webm"].startswith("blob:")
    assert saved["film"][0].startswith("video/webm")
    assert saved["film"][1] > 2000
