"""A short film of a run: the map from above, and the vehicle from astern and from starboard.

GIF is written by Pillow, which comes with matplotlib; MP4 by the ffmpeg inside the package
imageio-ffmpeg. What does not move is drawn once, so a frame takes some hundredths of a second.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from seatrial.errors import RecordingError
from seatrial.figures.run.encounters import bodies, draw_bodies
from seatrial.figures.run.legend import handles
from seatrial.figures.run.lines import lines_of
from seatrial.figures.run.track import draw_fences, draw_legs, frame, mark, reach, with_fences
from seatrial.figures.style import INK, MUTED, WATER
from seatrial.record.reader import Recording

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from seatrial.figures.page import Page

Array = NDArray[np.float64]
Told = Callable[[float], None]
"""Is told which share is done, 0 to 1."""

FILMS = ("gif", "mp4")
_RATE = 15
"""Pictures a second."""
_SECONDS = 10.0
"""How long a film is unless its speed is given."""
_MOST_PICTURES = 9000
_SIZE, _DOTS = (8.0, 4.5), 100
"""Inches, and pixels of each: even numbers of pixels, which MP4 needs."""
_POINTS = 61
"""Of the water's surface on either view."""
_SHADES = 9
"""From a colour to white, for the edges of lines."""


def write_film(
    runs: list[Recording], out: Path, speed: float | None = None, progress: Told | None = None
) -> Path:
    """Write a GIF or an MP4; `speed` is how many times faster than it was, 10 s in all without."""
    encode = {"gif": _encode_gif, "mp4": _encode_mp4}[out.suffix.lstrip(".").lower()]
    film = _Film(runs, _times(runs, speed))
    try:
        encode(film, progress or (lambda share: None), out)
    except OSError as error:
        raise RecordingError(
            f"{out}: cannot write the film ({error.strerror or error})\n"
            "  expected: a file in a folder that exists and is writable"
        ) from error
    return out


def _times(runs: list[Recording], speed: float | None) -> Array:
    first = min(float(run.dataset["time"].values[0]) for run in runs)
    last = max(float(run.dataset["time"].values[-1]) for run in runs)
    speed = (last - first) / _SECONDS if speed is None else speed
    count = int((last - first) / speed * _RATE) + 1 if speed > 0.0 else 0
    if not 2 <= count <= _MOST_PICTURES:
        raise RecordingError(
            f"at {speed:g} times the real speed the film has {count:,} pictures\n"
            f"  expected: 2 to {_MOST_PICTURES:,}, {_RATE} a second\n"
            f"  to mend:  another --speed, or --from and --to"
        )
    return first + np.arange(count) * speed / _RATE


@dataclass(frozen=True)
class _View:
    """The hull from astern or from starboard, and the water along it."""

    axes: "Axes"
    hull: Any
    water: Any
    corners: Array
    """(C, 2) across and up, m."""
    along: Array
    """(P,) of the water, m to the right."""

    def show(self, angle: float, height: float, surface: Array) -> None:
        """Turn the hull anticlockwise and put it and the water at their heights."""
        c, s = np.cos(angle), np.sin(angle)
        self.hull.set_xy(self.corners @ np.array([[c, s], [-s, c]]) + (0.0, height))
        floor = self.axes.get_ylim()[0]
        edge = [(self.along[-1], floor), (self.along[0], floor)]
        self.water.set_xy(np.concatenate([np.column_stack([self.along, surface]), edge]))


class _Film:
    def __init__(self, runs: list[Recording], times: Array) -> None:
        self._runs, self._times = runs, times
        self._lines = [x for x in lines_of(runs) if x.data.sizes["time"]]
        if not self._lines:
            raise RecordingError(
                f"{runs[0].path}: no vehicle to film\n"
                "  expected: one that was alive in this stretch of time"
            )
        self._rows = [
            np.clip(np.searchsorted(x.data["time"].values, times), 0, len(x.data["time"]) - 1)
            for x in self._lines
        ]
        self._moving: list[Artist] = []
        self._hero = self._lines[0]
        """Whose attitude is shown."""

    def pictures(self, progress: Told) -> Iterator[NDArray[np.uint8]]:
        """(H, W, 3) each."""
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        from seatrial.figures.page import Page

        page = Page(figsize=_SIZE, dpi=_DOTS, layout="constrained")
        canvas: Any = FigureCanvasAgg(page)
        cells = page.add_gridspec(2, 2, width_ratios=(1.35, 1.0))
        self._draw_map(page.add_subplot(cells[:, 0]))
        views = self._draw_views(page, cells)
        title = page.suptitle(" ", x=0.01, ha="left", fontsize=9, color=INK)
        self._moving.append(title)
        canvas.draw()  # settles the layout
        page.set_layout_engine("none")
        for artist in self._moving:
            artist.set_animated(True)
        canvas.draw()
        still = canvas.copy_from_bbox(page.bbox)
        surfaces = [
            self._surfaces(view.along, turn) for view, turn in zip(views, (1, 0), strict=True)
        ]
        for k, time in enumerate(self._times):
            self._move_map(k, float(time))
            title.set_text(self._show_attitude(k, views, surfaces))
            canvas.restore_region(still)
            for artist in self._moving:
                page.draw_artist(artist)
            yield np.asarray(canvas.buffer_rgba())[..., :3].copy()
            progress((k + 1) / len(self._times))

    def palette(self) -> list[int]:
        """Red, green and blue of the colours that occur, and of their edges on white and water."""
        from matplotlib.colors import to_rgb

        white, water = np.ones(3), 0.45 + 0.55 * np.array(to_rgb(WATER))
        lines = list(dict.fromkeys(x.colour for x in self._lines))
        inks = [INK, MUTED, *lines]
        shades = [white, water, *(np.array(to_rgb(c)) for c in ("#b8c2cc", "#e6ebf0"))]
        steps = np.linspace(0.0, 1.0, _SHADES)[:, None]
        for ink in (np.array(to_rgb(ink)) for ink in inks):
            wet = 0.45 * ink + 0.55 * np.array(to_rgb(WATER))
            shades += [*(ink + steps * (white - ink)), *(wet + steps * (water - wet))]
        numbers = np.unique(np.rint(255.0 * np.array(shades)).astype(int), axis=0)
        return [int(n) for n in numbers.ravel()]

    # ------------------------------------------------------------------ the map

    def _draw_map(self, axes: "Axes") -> None:
        axes.set_title("Track over ground, north up")
        axes.set_xlabel("east [m]")
        axes.set_ylabel("north [m]")
        places = [draw_bodies(axes, run) for run in self._runs]
        self._grown = []
        for x in self._lines:
            track = x.data["position"].values
            places += [track[:, :2], reach(x.vehicle)]
            draw_legs(axes, x.vehicle, len(self._lines) > 8)
            axes.plot(track[:, 1], track[:, 0], color=x.colour, lw=0.8, alpha=0.3)
            (line,) = axes.plot([], [], color=x.colour, lw=1.6, zorder=3)
            (boat,) = axes.plot([], [], mfc=x.colour, mec=x.colour, ms=9, ls="", zorder=6)
            self._grown.append((line, boat, track, x.data["euler"].values[:, 2]))
            self._moving += [line, boat]
        self._others = []
        for motion in (body.motion for body in bodies(self._runs[0])):
            if motion is not None:
                (other,) = axes.plot([], [], "D", color=INK, ms=6, zorder=5)
                self._others.append((other, motion))
                self._moving.append(other)
        vehicles = [x.vehicle for x in self._lines]
        everywhere = with_fences(np.concatenate(places), vehicles)
        draw_fences(axes, vehicles)
        extent = float(np.ptp(everywhere, axis=0).max())
        frame(axes, everywhere, max(extent, 3.0 * self._hero.vehicle.length))
        if 1 < len(self._lines) <= 8:
            names = [(x.label, x.colour, "-") for x in self._lines]
            axes.legend(handles=handles(names), loc="upper left", frameon=True, framealpha=0.85)

    def _move_map(self, k: int, time: float) -> None:
        for (line, boat, track, heading), rows in zip(self._grown, self._rows, strict=True):
            row = rows[k]
            line.set_data(track[: row + 1, 1], track[: row + 1, 0])
            boat.set_data([track[row, 1]], [track[row, 0]])
            boat.set_marker(mark(float(heading[row])))
        for other, motion in self._others:
            north, east = motion.at(time)[0][:2]
            other.set_data([east], [north])

    # ------------------------------------------------------------------ the attitude

    def _draw_views(self, page: "Page", cells: Any) -> list[_View]:
        """From astern, starboard to the right, and from starboard, the bow to the right."""
        v = self._hero.vehicle
        name = f"{self._hero.label} " if len(self._lines) > 1 else ""
        astern = [(-0.5, 0.5), (0.5, 0.5), (0.42, -0.5), (-0.42, -0.5)]
        beside = [(-0.5, 0.5), (0.5, 0.5), (0.42, -0.3), (0.3, -0.5), (-0.5, -0.5)]
        kinds = [("from astern", astern, v.beam), ("from starboard", beside, v.length)]
        views = []
        height = -self._hero.data["depth"].values
        swell = 0.5 * float(np.ptp(height)) if v.craft == "surface" else 0.0
        for i, (title, shape, across) in enumerate(kinds):
            axes = page.add_subplot(cells[i, 1])
            axes.set_title(f"{name}{title} [m]" if name else f"{title.capitalize()} [m]")
            half = 1.1 * max(across, v.height, 0.75 * v.length, 1.6 * swell)
            axes.set_xlim(-half, half)
            axes.set_ylim(-0.6 * half, 0.6 * half)
            axes.set_aspect("equal", adjustable="box")
            axes.grid(visible=False)
            along = np.linspace(-half, half, _POINTS)
            corners = np.array(shape) * (across, v.height)
            (water,) = axes.fill([0.0], [0.0], color=WATER, alpha=0.55, zorder=3)
            (hull,) = axes.fill([0.0], [0.0], fc="white", ec=self._hero.colour, lw=1.6, zorder=2)
            self._moving += [hull, water]
            views.append(_View(axes, hull, water, corners, along))
        return views

    def _surfaces(self, along: Array, across: int) -> Array:
        """(K, P) height of the water beside the vehicle, along its length or its beam."""
        data, rows = self._hero.data, self._rows[0]
        place, heading = data["position"].values[rows], data["euler"].values[rows, 2]
        heading = heading + 0.5 * np.pi * across
        north = place[:, :1] + along * np.cos(heading)[:, None]
        east = place[:, 1:2] + along * np.sin(heading)[:, None]
        scene = self._hero.run.scene
        if scene is None:
            flat: Array = np.tile(data["wave_elevation"].values[rows][:, None], (1, len(along)))
            return flat
        return scene.elevation(north, east, self._times[:, None])

    def _show_attitude(self, k: int, views: list[_View], surfaces: list[Array]) -> str:
        """Turn the hulls; what a caption says of this moment."""
        x, row = self._hero, self._rows[0][k]
        roll, pitch, yaw = x.data["euler"].values[row]
        depth = float(x.data["depth"].values[row])
        # Seen from astern a roll to starboard turns clockwise; from starboard, bow to the right,
        # a bow that rises turns anticlockwise. A submerged vehicle stays in the middle.
        middle = 0.0 if x.vehicle.craft == "surface" else depth
        for view, angle, surface in zip(views, (-roll, pitch), surfaces, strict=True):
            view.show(float(angle), middle - depth, surface[k] + middle)
        speed = float(x.data["speed"].values[row])
        # Rounded before they are written: no minus before a zero.
        leaning = [round(float(np.degrees(angle)), 1) + 0.0 for angle in (roll, pitch)]
        return (
            f"{x.label}   {self._times[k]:.1f} s   {speed:.2f} m/s   "
            f"heading {np.degrees(yaw) % 360.0:03.0f}°   roll {leaning[0]:+.1f}°   "
            f"pitch {leaning[1]:+.1f}°   depth {round(depth, 2) + 0.0:.2f} m"
        )


def _encode_gif(film: _Film, progress: Told, out: Path) -> None:
    from PIL import Image

    colours = Image.new("P", (1, 1))
    colours.putpalette(film.palette())
    images = (
        Image.fromarray(picture).quantize(palette=colours, dither=Image.Dither.NONE)
        for picture in film.pictures(progress)
    )
    first = next(images)
    first.save(out, save_all=True, append_images=images, duration=round(1000 / _RATE), loop=0)


def _encode_mp4(film: _Film, progress: Told, out: Path) -> None:
    ffmpeg = _ffmpeg(out)
    size = (round(_SIZE[0] * _DOTS), round(_SIZE[1] * _DOTS))
    # One thread and no dates: the same film gives the same bytes.
    same = ["-threads", "1", "-fflags", "+bitexact", "-flags:v", "+bitexact"]
    writer = ffmpeg.write_frames(
        str(out), size, fps=_RATE, quality=7, output_params=same, macro_block_size=2
    )
    writer.send(None)
    try:
        for picture in film.pictures(progress):
            writer.send(picture)
    finally:
        writer.close()


def _ffmpeg(out: Path) -> Any:
    try:
        import imageio_ffmpeg
    except ImportError:
        raise RecordingError(
            f"{out}: MP4 needs the package imageio-ffmpeg, which is not installed\n"
            "  expected: pip install 'seatrial[video]'\n"
            f"  to mend:  install it, or write {out.with_suffix('.gif')}"
        ) from None
    return imageio_ffmpeg
