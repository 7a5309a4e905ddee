"""Description of the bottom: flat, by a map, or made up from a few numbers and the seed."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from seatrial.spec.base import Metres, Number, Plain, Radians, Spec, Unit

BottomMaterial = Literal["mud", "sand", "gravel", "rock"]
Depth = Annotated[Metres, Field(gt=0, le=12_000)]
Size = Annotated[Metres, Field(gt=0, le=100_000)]
Height = Annotated[Metres, Field(ge=0, le=5_000)]
Pair = Annotated[tuple[Number, Number], Field(strict=False)]
Sides = Annotated[tuple[Size, Size], Field(strict=False), Unit("m")]


class Seabed(Spec):
    """A flat bottom."""

    depth: Depth
    """Below the mean level, m; the waves feel it too."""
    type: BottomMaterial = "sand"
    """Material, for how it scatters sound."""


class SeabedMap(Spec):
    """A bottom by a map that `seatrial seabed import` made."""

    map: Annotated[str, Field(min_length=1, max_length=500)]
    """File of the map, from where this description lies. Its datum is to be the world's."""
    type: BottomMaterial = "sand"
    """Material, for how it scatters sound."""


class Coast(Spec):
    """Land on one side: the bottom rises to it and out of the water."""

    towards: Radians
    """Direction in which the land lies, rad from north through east."""
    distance: Annotated[Metres, Field(ge=-100_000, le=100_000)]
    """From the centre of the bottom to the waterline."""
    slope: Annotated[Plain, Field(gt=0, le=10)] = 0.1
    """Rise over run of the beach."""
    height: Height = 10.0
    """At which the land goes on level."""


class MadeUp(Spec):
    """What every bottom that is made up says."""

    depth: Depth
    """Below the mean level, m: the mean, or that of the level bottom around what stands on it."""
    extent: Sides = (1000.0, 1000.0)
    """Of the grid towards north and east, at least; beyond it the bottom goes on as at its edge."""
    centre: Annotated[Pair, Unit("m")] = (0.0, 0.0)
    """Middle of the grid, north and east."""
    spacing: Annotated[Metres, Field(ge=0.05, le=1000)] = 4.0
    """Between the nodes of the grid."""
    coast: Coast | None = None
    """Open water on all sides when left out."""
    type: BottomMaterial = "sand"
    """Material, for how it scatters sound."""


class FractalSeabed(MadeUp):
    """Hills of all sizes, drawn from the seed."""

    shape: Literal["fractal"]
    """Selects this kind of bottom."""
    relief: Height = 3.0
    """Standard deviation of the depth."""
    largest: Size = 300.0
    """Length of the largest hills."""
    hurst: Annotated[Plain, Field(gt=0, lt=1)] = 0.8
    """Roughness: near 1 for smooth hills, near 0 for jagged ones; real bottoms have 0.7 to 0.9."""


class RippledSeabed(MadeUp):
    """Long-crested waves of sand."""

    shape: Literal["ripples"]
    """Selects this kind of bottom."""
    height: Height = 1.0
    """From trough to crest."""
    length: Size = 40.0
    """From crest to crest, at least four times `spacing`."""
    towards: Radians = 0.0
    """Direction across the crests, rad from north through east."""


class SlopingSeabed(MadeUp):
    """A plane."""

    shape: Literal["slope"]
    """Selects this kind of bottom."""
    gradient: Annotated[Plain, Field(ge=-10, le=10)] = 0.05
    """How much deeper per metre; `depth` is that at the centre."""
    towards: Radians = 0.0
    """Direction in which it grows deeper, rad from north through east."""


class Canyon(MadeUp):
    """A winding valley in a level bottom; from the seed comes where it bends."""

    shape: Literal["canyon"]
    """Selects this kind of bottom."""
    relief: Height = 20.0
    """How much deeper its axis is than the bottom around it."""
    width: Size = 100.0
    """Between the places where half of its depth is left."""
    towards: Radians = 0.0
    """Direction along it, rad from north through east."""
    meander: Annotated[Metres, Field(ge=0, le=10_000)] = 0.0
    """How far its axis strays to either side."""
    meander_length: Size = 500.0
    """From one bend to the next but one."""


class Reef(MadeUp):
    """Heads of rock or coral on a bottom, scattered from the seed."""

    shape: Literal["reef"]
    """Selects this kind of bottom."""
    count: Annotated[int, Field(ge=1, le=20_000)] = 60
    """Number of heads."""
    height: Height = 4.0
    """Of the highest ones; others have down to a third of it."""
    radius: Size = 12.0
    """Of the widest ones at their foot; others have down to a third of it."""
    relief: Height = 0.5
    """Standard deviation of the bottom between them."""


class WreckSite(MadeUp):
    """What is left of a ship, with the scour around her and debris beside."""

    shape: Literal["wreck_site"]
    """Selects this kind of bottom."""
    length: Size = 60.0
    """Of the wreck."""
    beam: Size = 10.0
    """Of the wreck."""
    height: Height = 5.0
    """Of the wreck above the bottom."""
    heading: Radians = 0.0
    """Of the wreck, which lies at the centre, rad from north through east."""
    scour: Height = 1.0
    """How much deeper the bottom is beside her."""
    debris: Annotated[int, Field(ge=0, le=1000)] = 20
    """Number of pieces scattered around her, up to a tenth of her height."""
    relief: Height = 0.2
    """Standard deviation of the bottom around her."""


class HarbourBasin(MadeUp):
    """A basin behind a wall that rises out of the water, with an entrance."""

    shape: Literal["harbour"]
    """Selects this kind of bottom."""
    basin: Sides = (300.0, 200.0)
    """Inside of the walls: along the direction of the entrance, and across."""
    towards: Radians = 0.0
    """Direction in which one leaves through the entrance, rad from north through east."""
    entrance: Size = 40.0
    """Width of the opening in the middle of that side."""
    wall: Size = 12.0
    """Thickness of the walls, at least twice `spacing`."""
    height: Height = 3.0
    """Of the walls above the water."""
    approach: Depth | None = None
    """Depth outside; as inside when left out."""


def shape(given: Any) -> str:
    """Which kind of bottom is meant: the word of its `shape`, or a class for those without."""
    if isinstance(given, Spec):
        return str(getattr(given, "shape", type(given).__name__))
    if isinstance(given, dict) and "shape" in given:
        return str(given["shape"])
    return "SeabedMap" if isinstance(given, dict) and "map" in given else "Seabed"


MADE_UP = (FractalSeabed, RippledSeabed, SlopingSeabed, Canyon, Reef, WreckSite, HarbourBasin)

AnySeabed = Annotated[
    Annotated[Seabed, Tag("Seabed")]
    | Annotated[SeabedMap, Tag("SeabedMap")]
    | Annotated[FractalSeabed, Tag("fractal")]
    | Annotated[RippledSeabed, Tag("ripples")]
    | Annotated[SlopingSeabed, Tag("slope")]
    | Annotated[Canyon, Tag("canyon")]
    | Annotated[Reef, Tag("reef")]
    | Annotated[WreckSite, Tag("wreck_site")]
    | Annotated[HarbourBasin, Tag("harbour")],
    Discriminator(shape),
]
