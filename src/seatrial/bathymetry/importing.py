"""Survey files, one or many, to one map."""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seatrial.bathymetry import gridding
from seatrial.bathymetry.choices import Choices
from seatrial.bathymetry.gridding import Layer, Nodes, Points
from seatrial.bathymetry.placing import datum_of, place_note, signed, without_strays
from seatrial.bathymetry.projection import Plane
from seatrial.bathymetry.reading import netcdf, rasters, surfaces
from seatrial.bathymetry.reading.text import read_text
from seatrial.bathymetry.sources import (
    Progress,
    Raster,
    Soundings,
    Source,
    Surface,
    refuse,
)
from seatrial.geometry.terrain import Terrain, terrain

Array = NDArray[np.float64]

MOST_NODES = 4096 * 4096
"""Of a map."""
FARTHEST = 100_000.0
"""From the datum to the edge of a map, m: beyond it the sea is no plane."""

RASTERS = {
    **dict.fromkeys((".tif", ".tiff"), rasters.read_geotiff),
    **dict.fromkeys((".asc", ".agr", ".grd"), rasters.read_ascii),
    **dict.fromkeys((".nc", ".nc4", ".cdf"), netcdf.read_netcdf),
    ".bag": rasters.read_bag,
}
MESHES = (".stl", ".obj", ".ply", ".glb")


@dataclass(frozen=True)
class Report:
    """What came out."""

    files: list[str]
    soundings: int
    """Soundings, nodes of rasters with a depth, and corners of meshes."""
    datum: tuple[float, float] | None
    extent_m: tuple[float, float]
    """Towards north and east."""
    spacing_m: float
    nodes: tuple[int, int]
    """Towards north and east."""
    depth_m: tuple[float, float]
    """Least and greatest; land is negative."""
    land_share: float
    holes: int
    """Nodes outside of the survey, or across a gap in it."""
    holes_share: float
    duplicates: int
    """Soundings at a place that had one."""
    notes: list[str]
    """What was assumed, mended or left out."""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Imported:
    """A map and how it came about."""

    terrain: Terrain
    report: Report
    gridding: str
    """In words."""


def import_seabed(
    files: Sequence[Path],
    choices: Choices,
    progress: Callable[[str, float], None] = lambda step, share: None,
) -> Imported:
    """Read survey files and put them onto one grid; refuses with SpecError."""
    notes: list[str] = []
    sources: list[Source] = []
    for k, path in enumerate(files):
        share = (k / len(files), (k + 1) / len(files))
        sources.append(_read(path, choices, _part(progress, "reading", *share)))
    sources = [signed(source, choices, notes) for source in sources]
    for source in sources:
        placed = place_note(source)
        said = (*source.notes, *([placed] if placed else []))
        notes += [f"{source.file.name}: {note}" for note in said]
    sources = without_strays(sources, notes)
    datum = datum_of(sources, choices, notes)
    plane = Plane(datum)
    points, duplicates = _points(sources, plane, notes)
    low, high = _bounds(sources, points, plane, choices, notes)
    nodes = _nodes(sources, points, plane, low, high, choices)
    layers = _layers(sources, points, nodes, plane, choices, progress)
    found = gridding.merged(layers)
    known = ~np.isnan(found.depth)
    if not known.any():
        refuse(sources[0].file, "no node of the grid has a depth", mend="choose another --spacing")
    holes = int(found.hole.sum())
    depth, across = gridding.filled(found.depth)
    if choices.holes == "leave":
        depth = np.where(found.hole, np.nan, found.depth)
    elif holes:
        notes.append(
            f"{holes} holes filled: {int((found.hole & known).sum()) + across} across gaps, "
            f"{int((~known).sum()) - across} from the nearest node"
        )
    made = terrain((nodes.north[0], nodes.east[0]), (nodes.spacing, nodes.spacing), depth)
    report = Report(
        files=[str(f) for f in files],
        soundings=sum(_count(source) for source in sources),
        datum=datum,
        extent_m=(float(np.ptp(nodes.north)), float(np.ptp(nodes.east))),
        spacing_m=nodes.spacing,
        nodes=nodes.shape,
        depth_m=(float(np.nanmin(made.depth)), float(np.nanmax(made.depth))),
        land_share=float(np.mean(made.depth < 0.0)),
        holes=holes,
        holes_share=holes / depth.size,
        duplicates=duplicates,
        notes=notes,
    )
    return Imported(made, report, _method(sources, choices))


def _part(
    progress: Callable[[str, float], None], step: str, start: float = 0.0, end: float = 1.0
) -> Progress:
    return lambda share: progress(step, start + (end - start) * share)


def _read(path: Path, choices: Choices, progress: Progress) -> Source:
    if not path.is_file():
        refuse(path, "there is no such file", expected="a survey file", mend="look at its name")
    suffix = path.suffix.lower()
    try:
        if suffix in RASTERS:
            return RASTERS[suffix](path, choices.crs)
        if suffix in MESHES:
            return surfaces.read_mesh(path)
        return read_text(path, choices.columns, choices.crs, progress)
    except OSError as error:
        refuse(
            path,
            f"it cannot be read ({error.strerror or error})",
            mend="look whether you may read it, and whether it is whole",
        )


def _points(sources: list[Source], plane: Plane, notes: list[str]) -> tuple[Points | None, int]:
    """All soundings together in the plane, at different places."""
    surveys = [s for s in sources if isinstance(s, Soundings)]
    if not surveys:
        return None, 0
    places = [plane.to_plane(s.x, s.y, s.crs) for s in surveys]
    north, east = (np.concatenate(column) for column in zip(*places, strict=True))
    depth = np.concatenate([s.z for s in surveys])
    points, repeated, conflicting = gridding.unique(Points(north, east, depth))
    if repeated:
        notes.append(
            f"{repeated} soundings at a place that had one; {conflicting} places had more than one "
            "depth and got the mean"
        )
    return points, repeated


def _bounds(
    sources: list[Source],
    points: Points | None,
    plane: Plane,
    choices: Choices,
    notes: list[str],
) -> tuple[Array, Array]:
    """Least and greatest north and east (2,) of all files."""
    found = [] if points is None else [np.stack([points.north, points.east])]
    for source in sources:
        if isinstance(source, Surface):
            found.append(source.vertices[np.unique(source.faces)][:, 1::-1].T)
        elif isinstance(source, Raster):
            x = np.concatenate(
                [source.x, source.x, 0 * source.y + source.x[0], 0 * source.y + source.x[-1]]
            )
            y = np.concatenate(
                [0 * source.x + source.y[0], 0 * source.x + source.y[-1], source.y, source.y]
            )
            found.append(np.stack(plane.to_plane(x, y, source.crs)))
    low = np.min([f.min(axis=1) for f in found], axis=0)
    high = np.max([f.max(axis=1) for f in found], axis=0)
    away = float(np.abs([low, high]).max())
    if not away <= FARTHEST:
        mend = "cut out the area that is needed"
        if choices.datum is not None:
            mend = "choose a datum within the survey, or leave --datum out"
        refuse(
            sources[0].file,
            f"the survey reaches {away / 1000.0:,.5g} km from the datum",
            value=plane.datum,
            expected=f"at most {FARTHEST / 1000.0:g} km, as far as the sea is a plane",
            mend=mend,
        )
    return low, high


def _nodes(
    sources: list[Source],
    points: Points | None,
    plane: Plane,
    low: Array,
    high: Array,
    choices: Choices,
) -> Nodes:
    spacing = choices.spacing
    if spacing is None:
        steps = [] if points is None else [gridding.usual_spacing(low, high, len(points.north))]
        for source in sources:
            if isinstance(source, Raster):
                steps.append(_rounded(max(gridding.resolution(source, plane))))
            elif isinstance(source, Surface):
                steps.append(gridding.usual_spacing(low, high, len(source.faces)))
        spacing = min(steps)
    count = math.prod(int(side / spacing) + 1 for side in (high - low).tolist())
    if count > MOST_NODES:
        fits = gridding.round_up(math.sqrt(float(np.prod(high - low)) / MOST_NODES))
        refuse(
            sources[0].file,
            f"a grid of {count:,} nodes {spacing:g} m apart",
            expected=f"at most {MOST_NODES:,} nodes",
            mend=f"choose a coarser one: --spacing {fits:g}; or import a smaller area",
        )
    return gridding.nodes_over(low, high, spacing)


def _rounded(spacing: float) -> float:
    """To two digits, as a raster's own step in metres is a crooked number."""
    digits = 1 - math.floor(math.log10(spacing))
    return round(spacing, digits)


def _layers(
    sources: list[Source],
    points: Points | None,
    nodes: Nodes,
    plane: Plane,
    choices: Choices,
    progress: Callable[[str, float], None],
) -> list[Layer]:
    """One of each raster and mesh, and one of all soundings, in the order of the files."""
    layers: list[Layer] = []
    surveyed = False
    for source in sources:
        if isinstance(source, Raster):
            layers.append(gridding.sample_raster(source, source.z, nodes, plane))
        elif isinstance(source, Surface):
            upright = source.vertices * [1.0, 1.0, -1.0]  # the highest is the least deep
            depth = -gridding.over_triangles(upright[source.faces], nodes.north, nodes.east)
            layers.append(Layer(depth, np.isnan(depth)))
        elif not surveyed:
            surveyed = True
            assert points is not None
            used = gridding.block_means(points, nodes) if choices.method == "grid" else points
            gridded = _part(progress, "gridding")
            layers.append(
                gridding.interpolate(used, nodes, source.file, len(points.north), gridded)
            )
    return layers


def _count(source: Source) -> int:
    if isinstance(source, Surface):
        return len(source.vertices)
    return int(np.count_nonzero(~np.isnan(source.z)))


def _method(sources: list[Source], choices: Choices) -> str:
    words = []
    if any(isinstance(s, Soundings) for s in sources):
        first = "block means, then " if choices.method == "grid" else ""
        words.append(f"soundings: {first}linear over Delaunay triangles")
    if any(isinstance(s, Raster) for s in sources):
        words.append("rasters: bilinear, after means where they are finer")
    if any(isinstance(s, Surface) for s in sources):
        words.append("meshes: highest triangle")
    rest = "filled (linear within, nearest outside)" if choices.holes == "fill" else "left empty"
    return f"{'; '.join(words)}; holes {rest}"
