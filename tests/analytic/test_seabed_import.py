"""Survey files of a known bottom give it back, whatever their format, order and reference system.

The bottom is a plane in the local frame: linear interpolation reproduces it but for rounding.
"""

import struct

import h5netcdf
import h5py
import numpy as np
import pyproj
import pytest
import rasterio
import trimesh
import xarray

from seatrial.bathymetry.choices import Choices
from seatrial.bathymetry.gridding import filled
from seatrial.bathymetry.importing import import_seabed
from seatrial.bathymetry.projection import Plane
from seatrial.bathymetry.sources import GEOGRAPHIC
from seatrial.bathymetry.store import open_map, write_map
from seatrial.errors import SpecError
from seatrial.gnc.guidance.patterns import from_latitude_longitude
from seatrial.spatial.geodesy import to_geodetic

DATUM = (60.0, 5.0)
UTM = "EPSG:32631"


def plane(north, east):
    return 30.0 + 0.02 * np.asarray(north) - 0.013 * np.asarray(east)


def scattered(count=800, seed=1, half=200.0):
    """North, east, latitude and longitude of random places."""
    north, east = np.random.default_rng(seed).uniform(-half, half, (2, count))
    latitude, longitude, _ = to_geodetic(np.stack([north, east, 0 * north]), DATUM)
    return north, east, latitude, longitude


def write_xyz(path, depth=plane, separator=",", header="", **more):
    north, east, latitude, longitude = scattered(**more)
    rows = zip(latitude, longitude, depth(north, east), strict=True)
    lines = [separator.join((f"{a:.9f}", f"{b:.9f}", f"{d:.5f}")) for a, b, d in rows]
    path.write_text("\n".join([*([header] if header else []), *lines, ""]))
    return path


def imported(*files, **choices):
    return import_seabed(files, Choices(**{"datum": DATUM, "spacing": 10.0} | choices))


def worst(made, inside=180.0):
    """Largest error of a map against the plane, well inside of it."""
    terrain = made.terrain
    n, e = np.meshgrid(terrain.north, terrain.east, indexing="ij")
    near = np.maximum(np.abs(n), np.abs(e)) <= inside
    return np.abs(terrain.depth - plane(n, e))[near].max()


@pytest.mark.parametrize("method", ["grid", "mesh"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "  ", ", "])
def test_soundings_of_a_plane_give_the_plane(tmp_path, separator, method):
    made = imported(write_xyz(tmp_path / "a.xyz", separator=separator), method=method)
    assert worst(made) < 2e-4
    assert made.report.soundings == 800
    assert made.report.spacing_m == 10.0


def test_decimal_commas_in_quotes_are_read_as_such(tmp_path):
    """As spreadsheets write them where a comma separates columns too."""
    path = write_xyz(tmp_path / "a.csv", header="lat,lon,depth")
    first, *lines = path.read_text().splitlines()
    quoted = [",".join(f'"{f.replace(".", ",")}"' for f in line.split(",")) for line in lines]
    (tmp_path / "b.csv").write_text("\n".join([first, *quoted]))
    found, expected = imported(tmp_path / "b.csv"), imported(path)
    np.testing.assert_array_equal(found.terrain.depth, expected.terrain.depth)
    # A comma behind the last number is no column.
    (tmp_path / "c.csv").write_text("\n".join([first, *(line + "," for line in lines)]))
    found = imported(tmp_path / "c.csv")
    np.testing.assert_array_equal(found.terrain.depth, expected.terrain.depth)


def test_a_curved_bottom_is_met_better_by_a_finer_grid(tmp_path):
    def bowl(north, east):
        return 30.0 + (np.asarray(north) ** 2 + np.asarray(east) ** 2) / 4000.0

    path = write_xyz(tmp_path / "bowl.xyz", depth=bowl, count=20_000)
    mean = {}
    for spacing in (20.0, 5.0):
        terrain = imported(path, spacing=spacing).terrain
        n, e = np.meshgrid(terrain.north, terrain.east, indexing="ij")
        near = np.maximum(np.abs(n), np.abs(e)) <= 150.0
        mean[spacing] = (terrain.depth - bowl(n, e))[near].mean()
    # The mean depth of a block of side s is (σ² + σ²)/4000 more than that of its middle, with
    # σ² = s²/12; triangles between the means add up to as much again.
    assert 1.0 < mean[20.0] / (20.0**2 / 24_000.0) < 2.0
    assert mean[5.0] < mean[20.0] / 8.0


def test_order_and_repetition_change_nothing(tmp_path):
    path = write_xyz(tmp_path / "a.xyz")
    lines = path.read_text().splitlines()
    other = tmp_path / "b.xyz"
    other.write_text("\n".join(np.random.default_rng(3).permutation(lines + lines[:50])))
    one, two = imported(path), imported(other)
    np.testing.assert_array_equal(one.terrain.depth, two.terrain.depth)
    assert (one.report.duplicates, two.report.duplicates) == (0, 50)


def utm_axes(step=5.0, half=240.0):
    """Axes of a grid along the UTM zone's own axes, around the datum."""
    x0, y0 = pyproj.Transformer.from_crs(GEOGRAPHIC, UTM, always_xy=True).transform(*DATUM[::-1])
    around = np.arange(-half, half + 1e-9, step)
    return x0 + around, y0 + around


def on_axes(x, y, crs):
    """The plane's depth at the nodes of a raster."""
    gx, gy = np.meshgrid(x, y)
    north, east = Plane(DATUM).to_plane(gx, gy, crs)
    return plane(north, east)


def geotiff(path):
    x, y = utm_axes()
    z = -on_axes(x, y[::-1], UTM)
    place = rasterio.transform.from_origin(x[0] - 2.5, y[-1] + 2.5, 5.0, 5.0)
    options = {"driver": "GTiff", "height": len(y), "width": len(x), "count": 1}
    with rasterio.open(
        path, "w", dtype="float32", crs=UTM, transform=place, nodata=-32767, **options
    ) as file:
        file.write(z.astype(np.float32), 1)


def degrees():
    return 5.0 + np.arange(-60, 61) * 8e-5, 60.0 + np.arange(-60, 61) * 4e-5


def esri(path):
    x, y = 5.0 + np.arange(-120, 121) * 4e-5, 60.0 + np.arange(-60, 61) * 4e-5
    z = -on_axes(x, y[::-1], GEOGRAPHIC)
    rows = "\n".join(" ".join(f"{v:.4f}" for v in row) for row in z)
    west, south = x[0] - 2e-5, y[0] - 2e-5
    path.write_text(
        f"ncols {len(x)}\nnrows {len(y)}\nxllcorner {west:.9f}\nyllcorner {south:.9f}\n"
        f"cellsize 0.00004\nNODATA_value -9999\n{rows}\n"
    )


def gebco(path):
    x, y = degrees()
    with h5netcdf.File(path, "w") as file:
        file.dimensions = {"lat": len(y), "lon": len(x)}
        file.create_variable("lat", ("lat",), data=y)
        file.create_variable("lon", ("lon",), data=x)
        z = file.create_variable("elevation", ("lat", "lon"), data=-on_axes(x, y, GEOGRAPHIC))
        z.attrs["units"] = "m"


def bag(path):
    x, y = utm_axes()
    z = -on_axes(x, y, UTM)
    z[0, 0] = 1e6
    wkt = pyproj.CRS(UTM).to_wkt("WKT1_GDAL").replace('"', "&quot;")
    corners = f"{x[0]:.6f},{y[0]:.6f} {x[-1]:.6f},{y[-1]:.6f}"
    xml = f"<a><gml:coordinates>{corners}</gml:coordinates><code>{wkt}</code></a>".encode()
    with h5py.File(path, "w") as file:
        root = file.create_group("BAG_root")
        root["elevation"] = z.astype(np.float32)
        root["metadata"] = np.frombuffer(xml, "S1")


@pytest.mark.parametrize(
    ("name", "write", "within"),
    [
        ("a.tif", geotiff, 1e-4),
        ("a.asc", esri, 2e-4),
        ("a.nc", gebco, 1e-4),
        ("a.bag", bag, 1e-4),
    ],
)
def test_rasters_of_a_plane_give_the_plane(tmp_path, name, write, within):
    write(tmp_path / name)
    made = imported(tmp_path / name, spacing=None)
    assert worst(made) < within
    assert made.report.datum == DATUM
    assert 3.0 < made.report.spacing_m < 8.0


@pytest.mark.parametrize("ending", ["stl", "obj", "ply", "glb"])
def test_meshes_of_a_plane_give_the_plane(tmp_path, ending):
    east, north = np.random.default_rng(2).uniform(-200, 200, (2, 400))
    corners = np.array([[-200, -200], [200, -200], [200, 200], [-200, 200]], float)
    east, north = np.append(east, corners[:, 0]), np.append(north, corners[:, 1])
    from scipy.spatial import Delaunay

    faces = Delaunay(np.column_stack([east, north])).simplices
    vertices = np.column_stack([east, north, -plane(north, east)])
    path = tmp_path / f"bottom.{ending}"
    trimesh.Trimesh(vertices, faces, process=False).export(path)
    made = import_seabed([path], Choices(spacing=10.0))
    assert worst(made) < 1e-4
    assert made.report.datum is None
    assert made.report.holes == 0
    assert made.terrain.depth.shape == (41, 41)


def test_of_two_surfaces_over_a_place_the_higher_one_is_the_bottom(tmp_path):
    low = trimesh.creation.box((100.0, 100.0, 2.0))
    high = trimesh.creation.box((20.0, 20.0, 6.0))
    low.apply_translation((0, 0, -21.0))
    high.apply_translation((0, 0, -18.0))
    path = tmp_path / "block.stl"
    trimesh.util.concatenate([low, high]).export(path)
    terrain = import_seabed([path], Choices(spacing=5.0)).terrain
    assert terrain.at(0.0, 0.0) == pytest.approx(15.0)
    assert terrain.at(40.0, 40.0) == pytest.approx(20.0)


def test_a_sounding_lies_where_a_waypoint_of_its_latitude_and_longitude_does():
    latitude, longitude = np.array([60.05, 59.93, 60.0]), np.array([5.1, 5.16, 4.82])
    north, east = Plane(DATUM).to_plane(longitude, latitude, GEOGRAPHIC)
    waypoints = from_latitude_longitude(np.column_stack([latitude, longitude, 0 * latitude]), DATUM)
    np.testing.assert_allclose(np.column_stack([north, east]), waypoints[:, :2], atol=1e-6)
    back = Plane(DATUM).to_system(north, east, GEOGRAPHIC)
    np.testing.assert_allclose(back, [longitude, latitude], atol=1e-11)


@pytest.mark.parametrize(("kilometres", "stretch"), [(10.0, 0.0082), (50.0, 1.026), (100.0, 8.21)])
def test_distances_from_the_datum_grow_as_stated(kilometres, stretch):
    # R tan(d/R) − d = d³/3R², against geodesics that others compute.
    geod = pyproj.Geod(ellps="WGS84")
    for azimuth in (0.0, 60.0, 200.0):
        longitude, latitude, _ = geod.fwd(DATUM[1], DATUM[0], azimuth, kilometres * 1e3)
        place = Plane(DATUM).to_plane(np.array([longitude]), np.array([latitude]), GEOGRAPHIC)
        grown = np.hypot(*place)[0] - kilometres * 1e3
        assert grown == pytest.approx(stretch, rel=0.05)


def test_the_sign_is_found_and_said(tmp_path):
    up = write_xyz(tmp_path / "up.xyz", depth=lambda n, e: -plane(n, e))
    said = "\n".join(imported(up).report.notes)
    assert worst(imported(up)) < 2e-4
    assert "up.xyz: numbers count upwards, most numbers are negative" in said
    other = imported(up, positive="down")
    assert other.report.depth_m[1] < 0.0
    assert other.report.land_share == 1.0


def test_soundings_above_the_water_are_counted_with_their_first_line(tmp_path):
    """Half of a survey with the other sign would else be an archipelago that nobody asked for."""
    path = write_xyz(tmp_path / "mixed.xyz")
    lines = path.read_text().splitlines()
    for i in range(2, len(lines), 2):
        x, y, z = lines[i].split(",")
        lines[i] = f"{x},{y},{-float(z)}"
    path.write_text("\n".join(lines))
    said = "\n".join(imported(path).report.notes)
    count = len(range(2, len(lines), 2))
    assert f"{count:,} of {len(lines):,} soundings lie above the water" in said
    assert "the first in line 3" in said
    assert "above the water" not in "\n".join(imported(write_xyz(tmp_path / "a.xyz")).report.notes)


def test_an_offset_lowers_the_bottom(tmp_path):
    path = write_xyz(tmp_path / "a.xyz")
    moved = imported(path, offset=1.25).terrain.depth - imported(path).terrain.depth
    np.testing.assert_allclose(moved, 1.25, atol=1e-5)


def test_names_of_columns_are_known_in_any_order(tmp_path):
    north, east, latitude, longitude = scattered()
    rows = zip(longitude, latitude, -plane(north, east), strict=True)
    lines = [f'"H1";{x:.9f};{z:.5f};{y:.9f}' for x, y, z in rows]
    path = tmp_path / "noaa.csv"
    path.write_text("\n".join(["survey_id; LONG (deg); Elevation [m]; Lat", *lines]))
    assert worst(imported(path)) < 2e-4
    swapped = tmp_path / "swapped.xyz"
    swapped.write_text(
        "\n".join(
            f"{x}, {y}, {z}"
            for x, y, z in zip(longitude, latitude, plane(north, east), strict=True)
        )
    )
    assert worst(imported(swapped, columns=("lon", "lat", "depth"))) < 2e-4


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("lat,lon,depth,depth", "`depth`, and not column 4, `depth`"),
        ("lat,lon,DEPTH,CORR_DEPTH", "`DEPTH`, and not column 4, `CORR_DEPTH`"),
        ('"lat","lon","depth","Elevation (m)"', "`depth`, and not column 4, `Elevation(m)`"),
        ("lat,lon,depth,z,value", "`depth`, and not column 4, `z`, nor column 5, `value`"),
    ],
)
def test_of_several_columns_that_may_be_the_depth_the_report_tells_which_is_read(
    tmp_path, header, said
):
    path = write_xyz(tmp_path / "a.csv", header=header)
    first, *lines = path.read_text().splitlines()
    more = header.count(",") - 2
    path.write_text("\n".join([first, *(line + ",5" * more for line in lines)]))
    made = imported(path)
    assert worst(made) < 2e-4
    mend = "where another is meant, give it alone such a name with --columns"
    assert f"a.csv: the depth is read from column 3, {said}: {mend}" in made.report.notes
    other = imported(path, columns=("lat", "lon", "unused", "depth"))
    assert other.report.depth_m == (5.0, 5.0)
    assert "is read from" not in "\n".join(other.report.notes)


def test_of_two_columns_of_longitudes_the_report_tells_which_is_read(tmp_path):
    path = write_xyz(tmp_path / "a.csv", header="lat,lon,depth,longitude")
    first, *lines = path.read_text().splitlines()
    path.write_text("\n".join([first, *(line + ",7" for line in lines)]))
    said = "\n".join(imported(path).report.notes)
    assert "the longitude is read from column 2, `lon`, and not column 4, `longitude`" in said


def test_of_two_variables_of_a_netcdf_that_may_be_the_depth_the_report_tells_which_is_read(
    tmp_path,
):
    gebco(tmp_path / "a.nc")
    assert "is read, and not" not in "\n".join(imported(tmp_path / "a.nc").report.notes)
    with h5netcdf.File(tmp_path / "a.nc", "a") as file:
        file.create_variable("depth", ("lat", "lon"), data=5.0 + 0.0 * file["elevation"][:])
    made = imported(tmp_path / "a.nc")
    assert worst(made) < 1e-4
    said = "a.nc: `elevation` is read, and not `depth`: export the one that is meant alone"
    assert said in made.report.notes


def test_decimal_commas_are_read_beside_other_separators(tmp_path):
    for separator in (";", "\t", " "):
        path = write_xyz(tmp_path / "a.csv", separator=separator)
        path.write_text(path.read_text().replace(".", ","))
        assert worst(imported(path)) < 2e-4


def test_what_spreadsheets_write_is_read(tmp_path):
    path = write_xyz(tmp_path / "a.csv", header="Latitude,Longitude,Depth")
    quoted = "\r\n".join(
        ",".join(f'"{field}"' for field in line.split(",")) for line in path.read_text().split()
    )
    path.write_bytes(b"\xef\xbb\xbf" + quoted.encode())
    made = imported(path)
    assert worst(made) < 2e-4
    assert made.report.soundings == 800


def test_a_survey_may_lie_across_the_date_line(tmp_path):
    random = np.random.default_rng(1)
    longitude = 180.0 + random.uniform(-0.01, 0.01, 500)
    longitude[longitude > 180.0] -= 360.0
    rows = zip(random.uniform(-17.01, -17.0, 500), longitude, strict=True)
    path = tmp_path / "fiji.xyz"
    path.write_text("\n".join(f"{a:.7f} {b:.7f} 30" for a, b in rows))
    report = import_seabed([path], Choices(spacing=10.0)).report
    assert abs(report.datum[1]) == pytest.approx(180.0, abs=1e-3)
    assert report.extent_m[1] == pytest.approx(0.02 * 106_500.0, rel=0.05)


def test_longitudes_may_be_counted_to_360(tmp_path):
    latitude, longitude = np.random.default_rng(1).uniform((60, 354.99), (60.01, 355.0), (500, 2)).T
    path = tmp_path / "a.xyz"
    rows = zip(latitude, longitude, strict=True)
    path.write_text("\n".join(f"{a:.7f} {b:.7f} {30 + 100 * (a - 60):.4f}" for a, b in rows))
    made = import_seabed([path], Choices(datum=(60.0, -5.0)))
    assert made.terrain.at(600.0, -200.0) == pytest.approx(30.0 + 100 * 600 / 111_415, abs=1e-3)


def test_files_are_merged_and_the_first_raster_has_the_say(tmp_path):
    gebco(tmp_path / "a.nc")
    west = write_xyz(tmp_path / "deep.xyz", depth=lambda n, e: plane(n, e) + 5.0)
    both = imported(tmp_path / "a.nc", west)
    assert worst(both) < 2e-4
    turned = imported(west, tmp_path / "a.nc")
    assert worst(turned) == pytest.approx(5.0, abs=1e-3)
    halves = []
    for name, keep in (("w", lambda e: e < 10), ("e", lambda e: e > -10)):
        north, east, latitude, longitude = scattered(count=2000)
        some = keep(east)
        rows = zip(latitude[some], longitude[some], plane(north, east)[some], strict=True)
        halves.append(tmp_path / f"{name}.xyz")
        halves[-1].write_text("\n".join(f"{a:.9f} {b:.9f} {d:.5f}" for a, b, d in rows))
    assert worst(imported(*halves)) < 2e-4


def test_holes_are_filled_or_left_and_counted(tmp_path):
    north, east, latitude, longitude = scattered(count=6000)
    far = np.hypot(north, east) > 80.0
    rows = zip(latitude[far], longitude[far], plane(north, east)[far], strict=True)
    path = tmp_path / "ring.xyz"
    path.write_text("\n".join(f"{a:.9f} {b:.9f} {d:.5f}" for a, b, d in rows))
    filled, left = (imported(path, spacing=5.0, holes=word) for word in ("fill", "leave"))
    assert filled.report.holes == left.report.holes
    # A disc whose radius is less by the gap across which soundings are trusted: five times what
    # lies between them, which is 5 to 7 m here.
    most, least = (np.pi * (80.0 - 5.0 * between) ** 2 / 25.0 for between in (5.0, 7.0))
    assert least < left.report.holes < most
    assert np.isnan(left.terrain.depth).sum() == left.report.holes
    assert not np.isnan(filled.terrain.depth).any()
    assert worst(filled) < 2e-4  # across the gap the triangles go on as a plane


def test_the_map_opens_in_xarray_and_reads_back_by_parts(tmp_path):
    made = imported(write_xyz(tmp_path / "a.xyz"))
    write_map(tmp_path / "a.nc", made.terrain, DATUM, {"history": "a test"})
    with xarray.open_dataset(tmp_path / "a.nc", engine="h5netcdf") as data:
        assert data["depth"].dims == ("north", "east")
        assert data["depth"].attrs["units"] == data["north"].attrs["units"] == "m"
        assert data["depth"].attrs["positive"] == "down"
        assert data.attrs["datum_latitude_deg"] == DATUM[0]
        np.testing.assert_array_equal(data["depth"].values, made.terrain.depth)
        np.testing.assert_allclose(data["east"].values, made.terrain.east)
    with open_map(tmp_path / "a.nc") as file:
        assert file.info.datum == DATUM
        part = file.read(slice(3, 9), slice(10, 30))
    assert part.at(part.north[2], part.east[5]) == made.terrain.depth[5, 15]
    np.testing.assert_array_equal(part.depth, made.terrain.depth[3:9, 10:30])
    # A map that was made can be imported again, with others or onto another grid.
    again = import_seabed([tmp_path / "a.nc"], Choices(spacing=10.0, crs="local"))
    np.testing.assert_allclose(again.terrain.depth, made.terrain.depth, atol=1e-5)


GOOD = "60.001,5.001,30\n60.002,5.002,31\n60.001,5.003,32\n60.003,5.001,33\n"
HOSTILE = {
    "empty": ("a.xyz", b"", r"a\.xyz:1: the file is empty"),
    "blank": ("a.xyz", b"\n  \n\t\n", r"a\.xyz:1: the file is empty"),
    "zeros": ("a.xyz", bytes(100_000), r"a\.xyz:1: the file holds nothing but zeros"),
    "binary": ("a.csv", GOOD.encode() + b"\x01\x02\x7f", r"a\.csv:5: this is binary"),
    "binary behind": (
        "a.csv",
        (GOOD * 1500).encode() + bytes(9000),
        r"a\.csv:6001: a line of more than 4096",
    ),
    "words": ("a.xyz", b"hello\nworld\n", r"a\.xyz:1: no columns of latitude.*\n.*hello"),
    "header only": ("a.csv", b"lat,lon,depth\n", "holds no soundings"),
    "all NaN": ("a.csv", b"lat,lon,depth\n60,5,nan\n60,5.1,nan\n", r"a\.csv:2: 2 of 2 lines"),
    "many bad lines": (
        "a.csv",
        GOOD.encode() + b"x,y,z\n" * 3,
        r"a\.csv:5: 3 of 7 lines hold no sounding",
    ),
    "two points": ("a.xyz", b"60,5,30\n60.001,5,31\n", "span no area"),
    "a line": ("a.xyz", b"60,5,30\n60.001,5,31\n60.002,5,31\n", "span no area"),
    "half a world apart": (
        "a.xyz",
        (GOOD + GOOD.replace(",5", ",-5")[:32]).encode(),
        r"a\.xyz:\d: \d of \d soundings lie more than 300 km.*\n(.*\n)*.*other sign of its "
        "longitude",
    ),
    "metres as degrees": ("a.xyz", b"6651411,300000,3\n" * 3, r"a\.xyz:1: 3 places are no latit"),
    "an unnamed grid": (
        "a.csv",
        b"x,y,depth\n300000,6651411,3\n300010,6651411,3\n300000,6651421,3\n",
        r"a\.csv:2: coordinates in metres of an unnamed grid(.*\n)*.*--crs",
    ),
    "thousands behind a comma": (
        "a.csv",
        b"lat,lon,depth\n" + GOOD.replace(",30", ',"1,030.0"').encode(),
        r"a\.csv:2: 1 of 4 lines hold no sounding; the first: no numbers",
    ),
    "decimal commas between commas": (
        "a.csv",
        b"lat,lon,depth\n" + GOOD.replace(".", ",").encode(),
        r"a\.csv:2: 4 of 4 lines hold no sounding; the first: more fields than the header",
    ),
    "decimal commas between commas, without a header": (
        "a.xyz",
        GOOD.replace(".", ",").encode(),
        r"a\.xyz:1: 5 columns of whole numbers and no header",
    ),
    "columns without a header": ("a.csv", b"H1,60,5,30\nH1,60.1,5,3\n", r"a\.csv:1: 4 columns"),
    "a raster of a terabyte": (
        "a.asc",
        b"ncols 1000000\nnrows 1000000\nxllcorner 5\nyllcorner 60\ncellsize 0.0001\n1 2 3\n",
        "declares 1,000,000,000,000 nodes",
    ),
    "a raster cut short": (
        "a.asc",
        b"ncols 3\nnrows 3\nxllcorner 5\nyllcorner 60\ncellsize 0.0001\n1 2 3\n",
        "1 rows of 3 numbers",
    ),
    "a raster with more rows than it says": (
        "a.asc",
        b"ncols 3\nnrows 2\nxllcorner 5\nyllcorner 60\ncellsize 0.0001\n" + 3 * b"1 2 3\n",
        r"more rows of 3 numbers(.*\n)*.*2 rows of 3, as the header says",
    ),
    "a raster with a short row": (
        "a.asc",
        b"ncols 3\nnrows 2\nxllcorner 5\nyllcorner 60\ncellsize 0.0001\n1 2 3\n4 5\n",
        r"a\.asc:7: a row that is not 3 numbers\n.*'4 5'\n.*2 rows of 3 numbers",
    ),
    "a raster with a word": (
        "a.asc",
        b"ncols 3\nnrows 2\nxllcorner 5\nyllcorner 60\ncellsize 0.0001\n1 2 three\n4 5 6\n",
        r"a\.asc:6: a row that is not 3 numbers",
    ),
    "a raster of half a column": (
        "a.asc",
        b"ncols 2.5\nnrows 2\nxllcorner 5\nyllcorner 60\ncellsize 0.0001\n1 2\n3 4\n",
        "`ncols` is no whole number",
    ),
    "a raster without a header": ("a.asc", b"1 2 3\n4 5 6\n", "header has no `ncols`"),
    "no GeoTIFF": ("a.tif", b"II*\0 nothing of the sort", "no raster can be read"),
    "no NetCDF": ("a.nc", b"CDF nothing of the sort", "no NetCDF 4 can be read"),
    "no BAG": ("a.bag", b"nothing of the sort", "no BAG can be read"),
    "an STL of 4 billion": (
        "a.stl",
        bytes(80) + struct.pack("<I", 2**32 - 1) + bytes(50),
        "promis",
    ),
    "a PLY of 4 billion": (
        "a.ply",
        b"ply\nformat binary_little_endian 1.0\nelement vertex 4000000000\nend_header\n",
        "promises 4,000,000,000",
    ),
    "an empty OBJ": ("a.obj", b"# nothing\n", "no mesh can be read|holds no triangles"),
    "no GLB": ("a.glb", b"glTF" + struct.pack("<II", 2, 2**31), "promises"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_files_are_refused_with_the_line(tmp_path, case):
    name, content, message = HOSTILE[case]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SpecError, match=message) as refused:
        import_seabed([tmp_path / name], Choices())
    assert "to mend" in str(refused.value)


def huge_netcdf(path):
    with h5py.File(path, "w") as file:
        side = 100_000
        for axis in ("lat", "lon"):
            file[axis] = np.linspace(0.0, 1.0, side)
            file[axis].make_scale(axis)
        z = file.create_dataset("elevation", (side, side), "f8", chunks=(1000, 1000))
        z.dims[0].attach_scale(file["lat"])
        z.dims[1].attach_scale(file["lon"])


def huge_bag(path):
    with h5py.File(path, "w") as file:
        root = file.create_group("BAG_root")
        root.create_dataset("elevation", (200_000, 200_000), "f4", chunks=(1000, 1000))
        root["metadata"] = np.frombuffer(b"<a/>", "S1")


def huge_tiff(path):
    place = rasterio.transform.from_bounds(0, 0, 1e6, 1e6, 200_000, 200_000)
    options = {"driver": "GTiff", "height": 200_000, "width": 200_000, "count": 1}
    options["transform"] = place
    with rasterio.open(
        path, "w", dtype="float32", sparse_ok=True, tiled=True, BIGTIFF="YES", crs=UTM, **options
    ):
        pass


def huge_text(path):
    path.write_text(GOOD)
    with path.open("r+b") as file:
        file.truncate(10 << 30)


@pytest.mark.parametrize(
    ("name", "write"),
    [("a.nc", huge_netcdf), ("a.bag", huge_bag), ("a.tif", huge_tiff), ("a.xyz", huge_text)],
)
def test_sparse_files_that_declare_gigabytes_are_refused_before_they_are_read(
    tmp_path, name, write
):
    write(tmp_path / name)
    assert (tmp_path / name).stat().st_blocks * 512 < 10_000_000
    with pytest.raises(SpecError, match=r"declares .* nodes|binary data|more than 4096"):
        import_seabed([tmp_path / name], Choices())


def test_few_strays_and_bad_lines_are_left_out_and_named(tmp_path):
    path = write_xyz(tmp_path / "a.xyz")
    lines = path.read_text().splitlines()
    lines[10:10] = ["60.0,-5.0,30", "60.0,5.0,nan", "60.0;5.0;99999", "# a comment", "60.0,5.0"]
    lines[15:15] = ["60.0,5.0,-9999"]
    path.write_text("\n".join(lines))
    made = imported(path)
    assert worst(made) < 2e-4
    said = "\n".join(made.report.notes)
    assert "wrong hemisphere?): line 11" in said
    assert "not finite: line 12" in said
    assert "a depth beyond 12000 m: line 13" in said
    assert "no numbers: line 15" in said
    assert "-9999, which stands for no depth: line 16" in said


def test_a_grid_too_fine_and_a_datum_too_far_are_refused_with_a_way_out(tmp_path):
    path = write_xyz(tmp_path / "a.xyz")
    with pytest.raises(SpecError, match=r"nodes 0.05 m apart(.*\n)*.*--spacing 0.1\b"):
        imported(path, spacing=0.05)
    with pytest.raises(SpecError, match=r"km from the datum(.*\n)*.*leave --datum out"):
        imported(path, datum=(0.0, 5.0))
    with pytest.raises(SpecError, match="no reference system"):
        imported(path, crs="EPSG:0", columns=("x", "y", "depth"))


def test_a_hole_within_a_raster_is_filled_linearly_and_one_at_its_edge_by_the_nearest():
    north, east = np.meshgrid(np.arange(40.0), np.arange(30.0), indexing="ij")
    truth = 20.0 + 0.3 * north - 0.2 * east
    depth = truth.copy()
    depth[10:18, 8:20] = np.nan
    depth[25, 5] = np.nan
    depth[30:40, 24:30] = np.nan  # a corner of the survey
    found, across = filled(depth)
    assert across == 8 * 12 + 1
    inner = np.zeros_like(depth, bool)
    inner[10:18, 8:20] = inner[25, 5] = True
    np.testing.assert_allclose(found[inner], truth[inner], atol=1e-9)
    assert found[39, 29] == pytest.approx(truth[39, 23])  # six nodes west, the nearest that is
    np.testing.assert_array_equal(found[~np.isnan(depth)], depth[~np.isnan(depth)])


DEGENERATE = {
    "one": ["60.0,5.0,30"],
    "two": ["60.0,5.0,30", "60.01,5.0,31"],
    "all in one place": ["60.0,5.0,30"] * 20,
    "on one line": [f"{60 + 0.001 * k},{5 + 0.002 * k},30" for k in range(40)],
    "on one meridian": [f"{60 + 0.001 * k},5.0,30" for k in range(40)],
}


@pytest.mark.parametrize("case", DEGENERATE)
@pytest.mark.parametrize("method", ["grid", "mesh"])
@pytest.mark.filterwarnings("error")
def test_soundings_that_span_no_area_are_refused_with_a_remedy_and_no_warning(
    tmp_path, case, method
):
    path = tmp_path / "a.xyz"
    path.write_text("\n".join(DEGENERATE[case]) + "\n")
    for spacing in (None, 10.0):
        with pytest.raises(SpecError) as refused:
            import_seabed([path], Choices(spacing=spacing, method=method))
        assert "span no area" in str(refused.value)
        assert "to mend" in str(refused.value)
