"""Figures for a paper: what was chosen, in the size that was asked for, with nothing hidden."""

import dataclasses
import re

import matplotlib
import numpy as np
import pytest
import record_frames as rf
from matplotlib.figure import Figure

from seatrial.api import Run
from seatrial.engine.frames import GUIDANCE, ActuatorInfo, Event, frames_of
from seatrial.engine.scene import Body, Scene, Timetable
from seatrial.errors import RecordingError
from seatrial.figures import plot as figures_plot
from seatrial.figures.plot import figure, plot
from seatrial.figures.run.lines import lines_of
from seatrial.figures.run.track import draw_track
from seatrial.figures.style import STYLE
from seatrial.record.memory import MemoryRecorder

EIGHT = dataclasses.replace(
    rf.AUV,
    name="rov",
    actuators=tuple(
        ActuatorInfo(f"{deck}{end}_{side}", "N")
        for deck in ("", "vertical_")
        for end in ("front", "rear")
        for side in ("starboard", "port")
    ),
)
"""A heavy ROV's thrusters."""
SHIP = dataclasses.replace(rf.BOAT, name="ship", length=16.0, beam=2.5)


def run_of(*vehicles, duration=60.0, seed=7, still=()):
    """In memory; vehicles named in `still` stay level on flat water."""
    made = rf.frames(vehicles, duration, seed)
    frames = dict(made.vehicles)
    for v in vehicles:  # as many channels as it has thrusters
        one, count = frames[v.name], len(v.actuators)
        wider = {
            f: np.resize(getattr(one, f).T, (count, len(made.time))).T
            for f in ("actuators", "command")
        }
        frames[v.name] = dataclasses.replace(one, **wider)
    for name in still:
        one = frames[name]
        position = one.position.copy()
        position[:, 2] = 0.0
        yaw = 2.0 * np.arctan2(one.attitude[:, 3], one.attitude[:, 0])
        level = np.stack([np.cos(yaw / 2), 0 * yaw, 0 * yaw, np.sin(yaw / 2)], axis=-1)
        frames[name] = dataclasses.replace(
            one, position=position, attitude=level, wave_elevation=0.0 * one.wave_elevation
        )
    memory = MemoryRecorder()
    memory.open(rf.header(vehicles, duration, seed=seed))
    memory.write(frames_of(made.time, frames))
    memory.close(rf.summary(vehicles, duration))
    return memory.recording()


@pytest.fixture(scope="module")
def both():
    return run_of(rf.BOAT, rf.AUV)


def axes_of(page):
    return {a.get_title(loc="left"): a for a in page.findobj(_is_axes) if a.axison}


def _is_axes(artist):
    from matplotlib.axes import Axes

    return isinstance(artist, Axes)


def test_an_encounter_shows_the_other_vessel_the_distance_and_the_rule():
    way = Timetable(np.array([0.0]), np.array([[60.0, -30.0]]), np.array([[-1.0, 0.5]]))
    ferry = Body("ferry", "vessel", length=20.0, beam=5.0, motion=way)
    vehicles = (rf.SENT_BOAT,)
    memory = MemoryRecorder()
    memory.open(rf.header(vehicles), Scene(bodies=(ferry,)))
    memory.write(rf.frames(vehicles))
    memory.close(rf.summary(vehicles))
    run = memory.recording()
    own = run.dataset.position.values[:, 0, :2]
    least = np.hypot(*(own - way.at(run.dataset.time.values)[0]).T).min()
    axes = axes_of(figure(run))
    chart = next(a for title, a in axes.items() if title.startswith("Distances"))
    assert chart.lines[0].get_ydata().min() == pytest.approx(least)
    words = {title: {t.get_text() for t in a.texts} for title, a in axes.items()}
    assert {f"{least:.1f} m", "give way"} <= words[chart.get_title(loc="left")]
    assert any("ferry" in on_it for on_it in words.values())  # at the end of her way on the map


def test_only_what_was_asked_for_is_drawn_in_its_order_and_size(both):
    page = figure(both, panels=["depth", "track", "roll"], width="180mm", height="9cm")
    assert list(axes_of(page)) == [
        "Track over ground, north up", "Depth, remus-1 [m]", "Roll, starboard down [°]",
    ]  # fmt: skip
    np.testing.assert_allclose(page.get_size_inches() * 25.4, (180.0, 90.0))


def test_loops_in_use_are_drawn_with_what_was_asked_of_them():
    run = run_of(rf.SENT_BOAT)
    data = run.vehicle("otter")
    held = data["setpoint_asked"].values.astype(int) & 64 > 0
    assert 0 < held.sum() < held.size
    away = np.hypot(*(data["position"].values[:, :2] - rf.STATION).T)
    (line,) = axes_of(figure(run))["Off the station [m]"].get_lines()
    np.testing.assert_allclose(line.get_ydata()[held], away[held])
    assert np.isnan(line.get_ydata()[~held]).all()
    assert not any(title.startswith("Speed to starboard") for title in axes_of(figure(run)))

    frames = run.source.frames
    boat = frames.vehicles["otter"]
    guidance = boat.guidance.copy()
    for name, value in (("asked", 4.0 + 16.0 + 32.0), ("sway", 0.3), ("yaw_rate", -0.1)):
        guidance[:, GUIDANCE.index(name)] = value
    memory = MemoryRecorder()
    memory.open(run.header)
    memory.write(frames_of(frames.time, {"otter": dataclasses.replace(boat, guidance=guidance)}))
    memory.close(run.summary)
    drawn = axes_of(figure(memory.recording()))
    for title, asked in (
        ("Speed to starboard, over ground [m/s]", 0.3),
        ("Yaw rate, to starboard [°/s]", np.degrees(-0.1)),
    ):
        was, wanted = drawn[title].get_lines()
        assert not np.allclose(was.get_ydata(), asked)
        np.testing.assert_allclose(wanted.get_ydata(), asked)
    assert "Off the station [m]" not in drawn


def test_stretch_of_time_and_vehicles_are_all_that_is_left(both):
    page = figure(both, panels=["track", "speed"], start=10.0, end=30.0, vehicles=["otter"])
    drawn = axes_of(page)
    (speed,) = drawn["Speed over ground [m/s]"].get_lines()
    time = speed.get_xdata()
    assert (time[0], time[-1], len(time)) == (pytest.approx(10.0), pytest.approx(30.0), 201)
    truth = rf.frames((rf.BOAT, rf.AUV)).vehicles["otter"].position[100:301]
    tracks = [x for x in drawn["Track over ground, north up"].get_lines() if len(x.get_xdata()) > 9]
    (track,) = tracks
    np.testing.assert_array_equal(track.get_xydata(), truth[:, 1::-1])
    whole = figure(both, start=10.0, end=30.0)  # the page takes it too
    assert axes_of(whole)["Speed over ground [m/s]"].get_xlim() == pytest.approx((10.0, 30.0))


@pytest.mark.parametrize(
    ("view", "words"),
    [
        ({"panels": ["track", "rolling"]}, "there is no panel 'rolling'.*track, speed, sway"),
        ({"panels": ["wind", "echogram"]}, "nothing to draw as 'echogram'.*some of track, speed"),
        ({"width": "18 furlongs"}, "no size for a figure.*180mm"),
        ({"width": "5"}, "no size for a figure"),
        ({"start": 70.0}, "nothing to draw from 70 to inf s.*0 to 60 s"),
        ({"vehicles": ["nobody"]}, "no vehicle 'nobody'.*otter, remus-1"),
        ({"panel": ["roll"]}, "a figure has no 'panel'.*panels, width"),  # it was drawn without
        ({"start": "a"}, "start='a' is no number"),
        ({"panels": 5}, "panels=5 names nothing"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_what_can(view, words, both):
    with pytest.raises(RecordingError, match=re.compile(words, re.DOTALL)):
        figure(both, **view)


def test_names_may_be_one_text_as_on_the_command_line(both):
    names = {"panels": ["roll", "heave"], "vehicles": ["otter"]}
    text = {"panels": "roll, heave", "vehicles": "otter"}
    assert list(axes_of(figure(both, **text))) == list(axes_of(figure(both, **names)))


def test_swarm_is_not_drawn_line_by_line(tmp_path):
    many = run_of(*(dataclasses.replace(rf.BOAT, name=f"b{i}") for i in range(13)), duration=5.0)
    with pytest.raises(RecordingError, match="13 vehicles are too many"):
        figure(many, panels=["roll"])
    with pytest.raises(RecordingError, match="13 vehicles are too many"):
        plot(many, tmp_path / "swarm.gif")
    assert "Roll, starboard down [°]" in axes_of(figure(many, panels=["roll"], vehicles=["b3"]))


@pytest.mark.parametrize("width", ["88mm", "180mm", None])
def test_no_legend_lies_on_data_or_leaves_the_figure(width, both):
    rov = run_of(EIGHT, rf.BOAT)
    chosen = {"panels": ["track", "actuators", "depth"], "width": width} if width else {}
    for page in (
        figure(rov, **chosen),
        figure([both, rov], panels=["heading", "actuators"], width=width or 200),
    ):
        page.canvas.draw()
        whole = page.bbox
        found = 0
        for axes in page.findobj(_is_axes):
            legend = axes.get_legend()
            if legend is None:
                continue
            found += 1
            box = legend.get_window_extent()
            assert not box.overlaps(axes.get_window_extent().padded(-1.0))
            assert not box.overlaps(axes._left_title.get_window_extent().padded(-1.0))
            assert whole.x0 <= box.x0
            assert box.x1 <= whole.x1 + 1.0
        assert found >= 2
        for axes in page.findobj(_is_axes):
            if axes.axison:
                assert axes._left_title.get_window_extent().x1 <= whole.x1
    (thrusters,) = (a for t, a in axes_of(figure(rov)).items() if "Actuators, rov" in t)
    assert len(thrusters.get_legend().get_texts()) == 9  # all eight, and the command


@pytest.mark.parametrize("width", ["88mm", None])
def test_no_event_leaves_its_panel(width):
    """Where a hull touched the bottom is a long sentence, and ran out of the figure."""
    boat = run_of(rf.BOAT)
    told = "touched the bottom at 1009.3 m north, 30.0 m east, 6.0 m down: 196 N s, 17100 N at most"
    event = Event(42.0, f"{told}, and once more with all its might", "touched", -1)
    ended = dataclasses.replace(boat.summary.vehicles["otter"], events=(event,))
    summary = dataclasses.replace(boat.summary, vehicles={"otter": ended})
    page = figure(dataclasses.replace(boat, summary=summary), width=width, panels=["timeline"])
    page.canvas.draw()
    (axes,) = axes_of(page).values()
    (words,) = (t for t in axes.texts if t.get_text().startswith("touched"))
    box, room = words.get_window_extent(), axes.get_window_extent()
    assert room.x0 - 1.0 <= box.x0
    assert box.x1 <= page.bbox.x1


def test_page_has_no_panels_of_flat_zeros_unless_asked():
    flat = run_of(rf.BOAT, still=["otter"])
    titles = " ".join(axes_of(figure(flat)))
    for word in ("Heave", "Roll", "Pitch"):
        assert word not in titles
    for word in ("Speed", "Heading", "Actuators", "Current"):
        assert word in titles
    assert "Roll, starboard down [°]" in axes_of(figure(flat, panels=["roll"]))


def test_hulls_are_at_true_scale_or_arrows_say_that_they_are_not():
    ship = axes_of(figure(run_of(SHIP)))["Track over ground, north up"]
    hulls = [p.get_xy() for p in ship.patches if type(p).__name__ == "Polygon"]
    assert hulls
    for corners in hulls:
        reach = np.linalg.norm(corners[:, None] - corners[None], axis=-1).max()
        assert reach == pytest.approx(np.hypot(SHIP.length, 0.4 * SHIP.beam), rel=1e-6)
    assert "hulls to scale" in ship.get_xlabel()

    far = run_of(rf.BOAT, rf.AUV)
    moved = dataclasses.replace(
        far.source.frames.vehicles["otter"],
        position=40.0 * far.source.frames.vehicles["otter"].position,
    )
    memory = MemoryRecorder()
    memory.open(rf.header((rf.BOAT,)))
    memory.write(frames_of(far.source.frames.time, {"otter": moved}))
    memory.close(rf.summary((rf.BOAT,)))
    track = axes_of(figure(memory.recording()))["Track over ground, north up"]
    assert not [p for p in track.patches if type(p).__name__ == "Polygon"]
    assert "arrows: heading, not to scale" in " ".join(track.get_xlabel().split())


def test_several_runs_are_laid_over_each_other_and_named(both):
    other = dataclasses.replace(run_of(rf.BOAT, rf.AUV, seed=9), path=both.path.with_name("second"))
    page = figure([both, other], panels=["track", "speed", "actuators"], vehicles=["otter"])
    drawn = axes_of(page)
    assert {"Actuator port [rev/s]", "Actuator starboard [rev/s]"} <= drawn.keys()
    speeds = drawn["Speed over ground [m/s]"].get_lines()
    assert len(speeds) == 2
    for line, run in zip(speeds, (both, other), strict=True):
        np.testing.assert_array_equal(line.get_ydata(), run.vehicle("otter")["speed"].values)
    (legend,) = page.legends
    texts = [t.get_text() for t in legend.get_texts()]
    assert texts == [both.path.stem, "second"]
    colours = [h.get_color() for h in legend.legend_handles]
    assert [line.get_color() for line in speeds] == colours


@pytest.mark.parametrize("suffix", ["pdf", "svg"])
def test_text_in_vector_files_is_text_in_embedded_fonts(both, suffix, tmp_path):
    views = {"panels": ["track", "depth"], "width": "88mm"}
    path = plot(both, tmp_path / f"f.{suffix}", **views)
    data = path.read_bytes()
    assert data == plot(both, tmp_path / f"g.{suffix}", **views).read_bytes()
    if suffix == "svg":
        assert "Depth, remus-1 [m]</text>" in data.decode()
    else:
        assert b"/FontFile2" in data  # TrueType, embedded
        assert b"/Type3" not in data


def test_plot_from_the_command_line_takes_the_same_choices(both, tmp_path, seatrial):
    from seatrial.record.mcap.writer import McapRecorder

    path = tmp_path / "run.mcap"
    recorder = McapRecorder(path)
    recorder.open(both.header)
    recorder.write(both.source.frames)
    recorder.close(both.summary)
    words = ("--panels", "track, depth", "--width", "88mm", "--from", "10", "--to", "40")
    code, _, err = seatrial("plot", path, *words, "--vehicle", "remus-1")
    assert code == 0, err
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")
    code, _, err = seatrial("plot", path, path, "--out", tmp_path / "two.svg", "--panels", "roll")
    assert code == 0, err
    code, _, err = seatrial("plot", path, "--panels", "trak")
    assert code == 2
    assert "some of track, speed" in err


def test_a_run_in_python_is_drawn_with_the_same_choices(both, tmp_path):
    memory = MemoryRecorder()
    memory.open(both.header)
    memory.write(both.source.frames)
    memory.close(both.summary)
    run = Run(both.header, both.summary, 0.5, memory)
    view = {"panels": ["roll"], "width": "88mm", "start": 5.0, "vehicles": ["otter"]}
    page = run.plot(tmp_path / "a.svg", **view)
    assert list(axes_of(page)) == ["Roll, starboard down [°]"]
    assert (tmp_path / "a.svg").read_bytes() == plot(both, tmp_path / "b.svg", **view).read_bytes()
    run.plot(tmp_path / "a.gif", end=4.0, speed=40.0)
    assert (tmp_path / "a.gif").read_bytes().startswith(b"GIF89a")


def test_no_line_under_a_map_begins_with_a_unit():
    lines = lines_of([run_of(rf.SENT_BOAT)])
    labels = set()
    for width in np.arange(2.0, 8.0, 0.2):
        with matplotlib.rc_context(STYLE):
            axes = Figure().subplots()
            draw_track(axes, lines, width)
        labels.add(axes.get_xlabel())
    assert all("ellipses" in label for label in labels)
    assert not [label for label in labels if "\n%" in label]


def test_a_run_that_is_drawn_to_a_file_gives_the_page_of_the_file(both, tmp_path, monkeypatch):
    memory = MemoryRecorder()
    memory.open(both.header)
    memory.write(both.source.frames)
    memory.close(both.summary)
    made = []
    make = figures_plot.figure
    monkeypatch.setattr(
        figures_plot, "figure", lambda *a, **k: made.append(make(*a, **k)) or made[-1]
    )
    page = Run(both.header, both.summary, 0.5, memory).plot(tmp_path / "a.png")
    assert made == [page]
    pages = [page, make(both)]  # it can be shown as if it were new
    shown = [
        one._repr_png_() and [axes.get_position().bounds for axes in one.axes] for one in pages
    ]
    np.testing.assert_allclose(*shown, atol=1e-3)


def test_a_figure_is_drawn_once_to_be_written(both, tmp_path, monkeypatch):
    drawn = []
    draw = Figure.draw
    monkeypatch.setattr(Figure, "draw", lambda self, way: (drawn.append(self), draw(self, way))[1])
    page = figure(both)
    page.savefig(tmp_path / "once.png", dpi=150)
    assert drawn == [page]
    assert page.get_layout_engine() is not None  # for a window that is stretched
