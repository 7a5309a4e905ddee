"""What passes between the page and the server, defined here once.

`python -m seatrial.viewer.typescript web/src/messages.ts` writes the same types for the page.

The server greets with a `Hello` (JSON), then sends states (binary, see `STATE_HEAD`), and `Event`,
`Sea`, `Bottom`, `Refused`, `Seats` and, where they are asked for, `Samples` and `History` (JSON) as
they come. The page sends one of `Request` (JSON). Frames and units are seatrial's own: NED, forward
starboard down, SI, radians; quaternions scalar first, body to world. Long arrays are base64 of
little-endian numbers.
"""

from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

FASTEST, SLOWEST = 100.0, 0.1
"""Simulated over wall time that the page may ask for."""

CLEAR = 100_000.0
"""Visibility of clear air, m."""

STATE_HEAD = {
    "time": "f8",
    "sequence": "u4",
    "run": "u4",
    "speed": "f4",
    "flags": "u4",
}
"""The head of a state: simulated time (s), number of the message, number of the run (one more after
each reset), simulated over wall time that is kept, and `FLAGS`. Behind it, in single precision, the
`fields` of every vehicle of the `Hello` in order, then position and attitude (7) of each body that
moves."""

FLAGS = {"playing": 1, "ended": 2}


class Message(BaseModel):
    """Strict: a key that nobody knows is refused."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)


# ── From the server ───────────────────────────────────────────────────────────────────────────


class Part(Message):
    """Consecutive numbers of a vehicle in a state."""

    name: str
    size: int


class ChannelCard(Message):
    """A command channel of a vehicle, and what it moves where: see `ActuatorInfo`."""

    name: str
    unit: str
    low: float
    high: float
    kind: str
    position: tuple[float, float, float]
    axis: tuple[float, float, float]
    size: float


class SensorCard(Message):
    """A sensor: see `SensorInfo`. `payload` is the kind of its array, empty without one."""

    name: str
    type: str
    components: list[str]
    units: list[str]
    rate: float
    position: tuple[float, float, float]
    orientation: tuple[float, float, float, float]
    facts: dict[str, list[float]]
    payload: str
    shape: list[int]
    unit: str


class LegCard(Message):
    """A leg of a mission."""

    name: str
    kind: str
    start: tuple[float, float, float]
    end: tuple[float, float, float]
    acceptance: float


class VehicleCard(Message):
    """A vehicle as the page needs to know it."""

    name: str
    kind: str
    craft: str
    length: float
    beam: float
    height: float
    channels: list[ChannelCard]
    faults: list[str]
    legs: list[LegCard]
    fence: list[tuple[float, float]]
    autopilot: bool
    suite: int
    hull: int | None
    fields: list[Part]


class HullCard(Message):
    """Triangles of a hull in body axes; `form` is `file`, or what it was made from."""

    form: str
    vertices: str
    faces: str


class WavesCard(Message):
    """The surface: the sum of a cos(ω t − k (x cos μ + y sin μ) + ε)."""

    amplitude: list[float]
    omega: list[float]
    wavenumber: list[float]
    direction: list[float]
    phase: list[float]


class WeatherCard(Message):
    """The weather in a few numbers, SI; directions are those towards which waves, air and water
    go, rad from north through east."""

    wave_height: float
    wave_period: float
    wave_towards: float
    wind_speed: float
    wind_towards: float
    current_speed: float
    current_towards: float
    visibility: float


class BottomCard(Message):
    """Depths at the nodes of a grid towards north (rows) and east."""

    origin: tuple[float, float]
    spacing: tuple[float, float]
    rows: int
    columns: int
    depth: str


class BodyCard(Message):
    """A body of the world; one that moves is told with every state, in this order."""

    name: str
    kind: str
    material: str
    moves: bool
    position: tuple[float, float, float]
    attitude: tuple[float, float, float, float]
    vertices: str
    faces: str


class Hello(Message):
    """Everything that is known before the first state."""

    type: Literal["hello"] = "hello"
    mode: Literal["live", "playback"]
    control: bool
    role: str = "operator"
    may: list[str]
    outside: bool = True
    scenario: str
    seed: int
    start: float
    duration: float
    frame_period: float
    statuses: list[str]
    outcomes: list[str]
    vehicles: list[VehicleCard]
    suites: list[list[SensorCard]]
    hulls: list[HullCard]
    waves: WavesCard | None
    water_depth: float | None
    bottom: BottomCard | None
    bodies: list[BodyCard]
    wind_speed: float
    weather: WeatherCard | None = None
    visibility: float = CLEAR


class Sea(Message):
    """The sea as it is now, told while it changes. `weather` is what it becomes."""

    type: Literal["sea"] = "sea"
    time: float
    waves: WavesCard | None
    wind_speed: float
    wind_towards: float
    visibility: float
    weather: WeatherCard | None


class Bottom(Message):
    """Another part of a map than the one in `Hello`, told when vehicles have come to it."""

    type: Literal["bottom"] = "bottom"
    bottom: BottomCard


class Event(Message):
    """Something that happened, or that somebody did."""

    type: Literal["event"] = "event"
    run: int
    time: float
    vehicle: str
    text: str
    kind: Literal["event", "fault", "act"] = "event"
    who: str = ""


class Refused(Message):
    """Why a request was not obeyed."""

    type: Literal["refused"] = "refused"
    text: str


class Seats(Message):
    """How many pages watch this run."""

    type: Literal["seats"] = "seats"
    viewers: int


class Picture(Message):
    """The array of a dense sensor, thinned out. `points`: rows of x, y, z (m, sensor's axes) and
    intensity, single precision. `raster`: bytes, 0 for nothing and 1 to 255 from low to high, rows
    by columns, one array after the other where several samples came at once. `photo`: a
    JPEG file."""

    form: Literal["points", "raster", "photo"]
    rows: int
    columns: int
    low: float
    high: float
    data: str


class Samples(Message):
    """What a sensor measured since the last message; a value that is not there is null."""

    type: Literal["samples"] = "samples"
    run: int
    vehicle: str
    sensor: str
    times: list[float]
    values: list[list[float | None]]
    picture: Picture | None


class History(Message):
    """All of a recording of one vehicle, thinned out: times (double precision), and behind each
    other the numbers of the vehicle's `fields` at each of them (single)."""

    type: Literal["history"] = "history"
    vehicle: str
    times: str
    numbers: str


# ── From the page ─────────────────────────────────────────────────────────────────────────────

Name = Annotated[str, Field(min_length=1, max_length=200)]
Coordinate = Annotated[float, Field(ge=-1e6, le=1e6)]
Angle = Annotated[float, Field(ge=-10.0, le=10.0)]


class Play(Message):
    """Go on."""

    type: Literal["play"]


class Pause(Message):
    """Stand still."""

    type: Literal["pause"]


class Step(Message):
    """One frame further."""

    type: Literal["step"]


class Reset(Message):
    """Back to the start, with another seed where one is given."""

    type: Literal["reset"]
    seed: Annotated[int, Field(ge=0, le=2**32 - 1)] | None = None


class Speed(Message):
    """Simulated over wall time."""

    type: Literal["speed"]
    factor: Annotated[float, Field(ge=SLOWEST, le=FASTEST)]


class Seek(Message):
    """To a time of a recording, s."""

    type: Literal["seek"]
    time: Annotated[float, Field(ge=0.0, le=1e9)]


class Channels(Message):
    """Orders by channel, SI."""

    type: Literal["channels"]
    vehicle: Name
    values: Annotated[dict[Name, Coordinate], Field(max_length=64)]


class Stick(Message):
    """A stick pushed ahead and to starboard, each −1 to 1; zero and zero is a stop."""

    type: Literal["stick"]
    vehicle: Name
    ahead: Annotated[float, Field(ge=-1.0, le=1.0)]
    starboard: Annotated[float, Field(ge=-1.0, le=1.0)]
    dive: Annotated[float, Field(ge=-1.0, le=1.0)] = 0.0


class Waypoint(Message):
    """Go to a place, north and east, at a speed, m/s."""

    type: Literal["waypoint"]
    vehicle: Name
    north: Coordinate
    east: Coordinate
    surge: Annotated[float, Field(gt=0.0, le=50.0)]


class Release(Message):
    """Give a vehicle back to its own timetable, manoeuvre or pilot."""

    type: Literal["release"]
    vehicle: Name


class SetFault(Message):
    """Strike with a fault that the scenario describes, or call it off."""

    type: Literal["fault"]
    vehicle: Name
    fault: Name
    on: bool


class SetWeather(Message):
    """Other weather; what is left out stays. A sea state of the WMO is a height and a period."""

    type: Literal["weather"]
    sea_state: Annotated[int, Field(ge=0, le=9)] | None = None
    wave_height: Annotated[float, Field(ge=0.0, le=20.0)] | None = None
    wave_period: Annotated[float, Field(ge=0.5, le=25.0)] | None = None
    wave_towards: Angle | None = None
    wind_speed: Annotated[float, Field(ge=0.0, le=60.0)] | None = None
    wind_towards: Angle | None = None
    current_speed: Annotated[float, Field(ge=0.0, le=5.0)] | None = None
    current_towards: Angle | None = None
    visibility: Annotated[float, Field(ge=10.0, le=CLEAR)] | None = None


class Watch(Message):
    """Look at a sensor of a vehicle from now on; at none without a name."""

    type: Literal["watch"]
    vehicle: Name
    sensor: Annotated[str, Field(max_length=200)] = ""


class Recall(Message):
    """Ask for the `History` of a vehicle; a live run has none."""

    type: Literal["recall"]
    vehicle: Name


Request = Annotated[
    Play
    | Pause
    | Step
    | Reset
    | Speed
    | Seek
    | Channels
    | Stick
    | Waypoint
    | Release
    | SetFault
    | SetWeather
    | Watch
    | Recall,
    Field(discriminator="type"),
]

read_request: TypeAdapter[Request] = TypeAdapter(Request)

REQUESTS = tuple(
    get_args(model.model_fields["type"].annotation)[0]
    for model in get_args(get_args(Request)[0])
    if model not in (Watch, Recall)
)
"""Types of the requests that a role may be allowed; everybody may look."""
