"""The world of a run as plain numbers: the sea that pushed, and every body that can be drawn.

A scene goes to every sink with the header, so that a playback draws the sea that the vehicles felt
without compiling anything. Nothing here needs JAX: the sums of `seatrial.ocean` are written once
more in NumPy, term by term, and the tests hold both against each other.

Frames and units are seatrial's own: NED, SI, radians, seconds since the start.
"""

import base64
import json
import math
import zlib
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from seatrial.geometry.bodies import Body as Body
from seatrial.geometry.bodies import Fender, Ride
from seatrial.geometry.bodies import Timetable as Timetable
from seatrial.geometry.terrain import Terrain as Terrain
from seatrial.geometry.terrain import terrain_of

if TYPE_CHECKING:
    from seatrial.ocean import Ocean

Array = NDArray[np.float64]

_REFERENCE_HEIGHT = 10.0
_LOWEST_HEIGHT = 0.1
"""As `ocean.wind`: where the mean wind is stated, and below which its profile is constant, m."""


@dataclass(frozen=True)
class WaveComponents:
    """Regular waves, whose sum is the surface: a cos(ω t − k (x cos μ + y sin μ) + ε)."""

    amplitude: Array
    """(C,) m."""
    omega: Array
    """(C,) rad/s, at a fixed place: with the current that carries the waves."""
    wavenumber: Array
    """(C,) rad/m."""
    direction: Array
    """(C,) azimuth towards which each travels, rad."""
    phase: Array
    """(C,) rad."""
    depth: float | None = None
    """Water depth that the wavenumbers belong to, m; None for deep water."""
    stretching: str = "constant"
    """How the motion is continued above the mean level, as `ocean.waves.STRETCHING` says."""


@dataclass(frozen=True)
class Line:
    """A smooth line through a table: cubic between its knots, constant beyond them."""

    knots: Array
    values: Array
    slopes: Array

    def __call__(self, at: ArrayLike) -> Array:
        """Cubic Hermite value, as `ocean.curves.evaluate`."""
        k, v, m = self.knots, self.values, self.slopes
        x = np.clip(np.asarray(at, np.float64), k[0], k[-1])
        i = np.clip(np.searchsorted(k, x, side="right") - 1, 0, len(k) - 2)
        h, rise = k[i + 1] - k[i], v[i + 1] - v[i]
        s, m0, m1 = (x - k[i]) / h, m[i], m[i + 1]
        smooth: Array = v[i] + s * (
            h * m0 + s * (3.0 * rise - h * (2.0 * m0 + m1) + s * (h * (m0 + m1) - 2.0 * rise))
        )
        return smooth


@dataclass(frozen=True)
class Harmonics:
    """Oscillations of known amplitude, circular frequency and phase."""

    amplitude: Array
    omega: Array
    phase: Array


@dataclass(frozen=True)
class Tide:
    """Tidal constituents: north and east amplitude (m/s), frequency, lag of the strongest flow."""

    north: Array
    east: Array
    omega: Array
    phase: Array


@dataclass(frozen=True)
class CurrentField:
    """The horizontal flow without waves and turbulence, the same at every (x, y)."""

    north: float | Line
    """m/s, steady or over time."""
    east: float | Line
    tide: Tide | None = None
    profile: Line | None = None
    """Factor over depth."""


@dataclass(frozen=True)
class WindField:
    """The mean wind at 10 m, its profile over height, and gusts carried along by it."""

    speed: float
    towards: float
    profile: str
    """`log` or `power`."""
    shape: float
    """Roughness length in m for `log`, exponent for `power`."""
    gusts: Harmonics | None = None


@dataclass(frozen=True)
class TurbulenceModes:
    """Random Fourier modes, as `ocean.turbulence`."""

    wavevector: Array
    """(3, K) rad/m."""
    cosine: Array
    """(3, K) m/s."""
    sine: Array
    """(3, K) m/s."""
    omega: Array
    """(K,) rad/s."""
    phase: Array
    """(K,) rad."""


@dataclass(frozen=True)
class Scene:
    """Everything around the vehicles, and the vehicles; a part that is None is not there."""

    waves: WaveComponents | None = None
    current: CurrentField | None = None
    wind: WindField | None = None
    turbulence: TurbulenceModes | None = None
    water_depth: float | None = None
    """Of the flat bottom, m."""
    terrain: Terrain | None = None
    """A bottom that is not flat, around where the vehicles can be."""
    bodies: tuple[Body, ...] = ()

    def depth_under(self, x: ArrayLike, y: ArrayLike) -> Array | None:
        """Depth of the bottom under places that broadcast, m; None where there is no bottom."""
        if self.terrain is not None:
            return self.terrain.at(x, y)
        if self.water_depth is None:
            return None
        return np.full(np.broadcast_shapes(np.shape(x), np.shape(y)), self.water_depth)

    def elevation(self, x: ArrayLike, y: ArrayLike, t: ArrayLike) -> Array:
        """Height of the surface above the mean level at points and times that broadcast, m."""
        x, y, t = np.broadcast_arrays(*(np.asarray(a, np.float64) for a in (x, y, t)))
        height = np.zeros(x.shape)
        waves = self.waves
        if waves is None:
            return height
        kx = waves.wavenumber * np.cos(waves.direction)
        ky = waves.wavenumber * np.sin(waves.direction)
        for i, amplitude in enumerate(waves.amplitude):  # component by component: little memory
            now = waves.omega[i] * t + waves.phase[i]
            height += amplitude * np.cos(now - kx[i] * x - ky[i] * y)
        return height

    def flow(self, x: ArrayLike, y: ArrayLike, z: ArrayLike, t: ArrayLike) -> Array:
        """Velocity (..., 3) of current and turbulence at points and times that broadcast, m/s."""
        x, y, z, t = np.broadcast_arrays(*(np.asarray(a, np.float64) for a in (x, y, z, t)))
        velocity = np.zeros((*x.shape, 3))
        if self.current is not None:
            north, east = (_over_time(part, t) for part in (self.current.north, self.current.east))
            tide = self.current.tide
            if tide is not None:
                swing = np.cos(tide.omega * t[..., None] - tide.phase)
                north, east = north + swing @ tide.north, east + swing @ tide.east
            factor = 1.0 if self.current.profile is None else self.current.profile(z)
            velocity[..., 0] += factor * north
            velocity[..., 1] += factor * east
        if self.turbulence is not None:
            modes = self.turbulence
            place = np.stack([x, y, z], axis=-1)
            angle = modes.phase - modes.omega * t[..., None] + place @ modes.wavevector
            velocity += np.cos(angle) @ modes.cosine.T + np.sin(angle) @ modes.sine.T
        return velocity

    def air(self, x: ArrayLike, y: ArrayLike, z: ArrayLike, t: ArrayLike) -> Array:
        """Velocity (..., 3) of the air at points and times that broadcast, m/s."""
        x, y, z, t = np.broadcast_arrays(*(np.asarray(a, np.float64) for a in (x, y, z, t)))
        wind = self.wind
        if wind is None:
            return np.zeros((*x.shape, 3))
        cos, sin = np.cos(wind.towards), np.sin(wind.towards)
        height = np.maximum(-z, _LOWEST_HEIGHT)
        if wind.profile == "log":
            factor = np.log(height / wind.shape) / np.log(_REFERENCE_HEIGHT / wind.shape)
        else:
            factor = (height / _REFERENCE_HEIGHT) ** wind.shape
        speed = wind.speed * factor
        if wind.gusts is not None:
            gusts, delay = wind.gusts, (x * cos + y * sin) / wind.speed
            angle = gusts.omega * (t - delay)[..., None] + gusts.phase
            speed = speed + np.cos(angle) @ gusts.amplitude
        return np.stack([speed * cos, speed * sin, np.zeros_like(speed)], axis=-1)


def _over_time(part: float | Line, t: Array) -> Array:
    return part(t) if isinstance(part, Line) else np.full(t.shape, part)


def scene_of(ocean: "Ocean", bodies: tuple[Body, ...] = ()) -> Scene:
    """The scene of a compiled ocean; numbers keep the precision in which they push."""
    waves, turbulence = ocean.waves, ocean.turbulence
    return Scene(
        waves=None
        if waves is None
        else WaveComponents(
            **_named(waves, "amplitude", "wavenumber", "direction", "phase"),
            omega=_arrays(waves, "observed")[0],
            depth=None if waves.depth is None else float(waves.depth),
            stretching=waves.stretching,
        ),
        current=_current(ocean),
        wind=_wind(ocean),
        turbulence=None
        if turbulence is None
        else TurbulenceModes(
            *_arrays(turbulence, "wavevector", "cosine", "sine", "omega", "phase")
        ),
        **_bottom(ocean),
        bodies=bodies,
    )


def _bottom(ocean: "Ocean") -> dict[str, Any]:
    if ocean.seabed is None:
        return {}
    from seatrial.geometry.grid import HeightGrid  # with JAX, which a reader of scenes needs not

    depth = ocean.seabed.depth
    if isinstance(depth, HeightGrid):
        return {"terrain": terrain_of(depth)}
    return {"water_depth": float(depth)}


def _current(ocean: "Ocean") -> CurrentField | None:
    current = ocean.current
    if current is None:
        return None
    tide, profile = current.tide, current.profile
    return CurrentField(
        north=_steady_or_line(current.north),
        east=_steady_or_line(current.east),
        tide=None if tide is None else Tide(*_arrays(tide, "north", "east", "omega", "phase")),
        profile=None if profile is None else _line(profile),
    )


def _wind(ocean: "Ocean") -> WindField | None:
    wind = ocean.wind
    if wind is None:
        return None
    gusts = wind.gusts
    return WindField(
        speed=float(wind.speed),
        towards=float(wind.towards),
        profile=wind.profile,
        shape=float(wind.shape),
        gusts=None if gusts is None else Harmonics(*_arrays(gusts, "amplitude", "omega", "phase")),
    )


def _steady_or_line(part: Any) -> float | Line:
    return _line(part) if hasattr(part, "knots") else float(part)


def _line(curve: Any) -> Line:
    return Line(*_arrays(curve, "knots", "values", "slopes"))


def _named(of: Any, *names: str) -> dict[str, Any]:
    return dict(zip(names, _arrays(of, *names), strict=True))


def _arrays(of: Any, *names: str) -> list[Array]:
    return [np.asarray(getattr(of, name), np.float64) for name in names]


def write_scene(scene: Scene) -> str:
    """The scene as JSON, exact to the last bit."""
    return json.dumps(_plain(scene), ensure_ascii=False, allow_nan=False)


def read_scene(text: str) -> Scene:
    """The scene back from JSON; a ValueError, KeyError or TypeError says that it is none."""
    scene = json.loads(text, object_hook=_revived)
    if not isinstance(scene, Scene):
        raise ValueError(f"expected a scene, found {type(scene).__name__}")
    return scene


_KINDS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        *(Scene, Body, Timetable, Ride, Fender, WaveComponents, CurrentField, Line, Tide),
        *(WindField, Harmonics, TurbulenceModes, Terrain),
    )
}


MANY = 4096
"""Numbers of an array that is packed rather than written out, where single precision holds it."""


def _plain(value: Any) -> Any:
    """Nested plain data; an object says its kind, an array its shape, and None is left out."""
    if isinstance(value, np.ndarray):
        single = value.astype("<f4")
        if value.size >= MANY and np.array_equal(single, value):
            return {"shape": list(value.shape), "packed": _packed(single)}
        return {"shape": list(value.shape), "numbers": value.ravel().tolist()}
    if is_dataclass(value):
        parts = ((f.name, getattr(value, f.name)) for f in fields(value))
        there = {name: _plain(part) for name, part in parts if part is not None}
        return {"kind_of_part": type(value).__name__, **there}
    return [_plain(part) for part in value] if isinstance(value, tuple) else value


def _revived(data: dict[str, Any]) -> Any:
    if "kind_of_part" in data:
        parts = {k: tuple(v) if isinstance(v, list) else v for k, v in data.items()}
        kind = _KINDS[data["kind_of_part"]]
        del parts["kind_of_part"]
        return kind(**parts)
    if "packed" in data:
        return _unpacked(data["packed"], math.prod(data["shape"])).reshape(data["shape"])
    return np.array(data["numbers"], np.float64).reshape(data["shape"])


def _packed(numbers: NDArray[np.float32]) -> str:
    """First bytes of all numbers, second bytes, and so on: neighbours differ in the last ones."""
    planes = numbers.ravel().view(np.uint8).reshape(-1, 4).T
    return base64.b64encode(zlib.compress(planes.tobytes(), 6)).decode()


def _unpacked(text: str, count: int) -> Array:
    try:
        found = zlib.decompressobj().decompress(base64.b64decode(text), 4 * count)
    except zlib.error as error:
        raise ValueError(f"packed numbers that cannot be unpacked ({error})") from None
    planes = np.frombuffer(found, np.uint8).reshape(4, -1)
    return np.ascontiguousarray(planes.T).view("<f4").ravel().astype(np.float64)
