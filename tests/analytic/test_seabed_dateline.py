"""Surveys across the date line, across Greenwich and around a pole are surveys like others.

The bottom is a plane in the local frame: linear interpolation reproduces it but for rounding.
"""

import h5netcdf
import h5py
import numpy as np
import pyproj
import pytest
import rasterio

from seatrial.bathymetry.choices import Choices, check_choices
from seatrial.bathymetry.importing import import_seabed
from seatrial.bathymetry.projection import Plane
from seatrial.errors import SpecError
from seatrial.gnc.guidance.patterns import from_latitude_longitude
from seatrial.spatial.geodesy import to_geodetic

FIJI = (-17.0, 180.0)
DEGREES = "EPSG:4326"


def plane(north, east):
    """Depth, m."""
    return 30.0 + 0.02 * np.asarray(north) - 0.013 * np.asarray(east)


def to_180(longitude):
    return np.remainder(longitude + 180.0, 360.0) - 180.0


def to_360(longitude):
    return np.remainder(longitude, 360.0)


def beyond(longitude):
    """As grids that go on over 180° from the east."""
    return to_360(longitude) - 360.0


def across(datum, half, count=600):
    """Latitudes, longitudes (0 to 360) and depths by a place, as many east as west of it."""
    north, east = np.random.default_rng(4).uniform((-half, 0.01 * half), (half, half), (count, 2)).T
    east[::2] *= -1.0
    latitude, longitude, _ = to_geodetic(np.stack([north, east, 0 * north]), datum)
    return latitude, to_360(longitude), plane(*Plane(datum).to_plane(longitude, latitude, DEGREES))


def text_across(path, datum, wrap, keep=slice(None)):
    latitude, longitude, depth = across(datum, 600.0)
    rows = np.column_stack([latitude, wrap(longitude), depth])[keep]
    np.savetxt(path, rows, "%.9f", ",", header="lat,lon,depth", comments="")
    return path


def worst_about(made, datum, inside=500.0):
    """Largest error against the plane about a datum, whatever the map counts from."""
    n, e = np.meshgrid(made.terrain.north, made.terrain.east, indexing="ij")
    latitude, longitude, _ = to_geodetic(np.stack([n, e, 0 * n]), made.report.datum)
    n, e = Plane(datum).to_plane(longitude, latitude, DEGREES)
    near = np.maximum(np.abs(n), np.abs(e)) <= inside
    assert near.sum() > 900
    return np.abs(made.terrain.depth - plane(n, e))[near].max()


@pytest.mark.parametrize("datum", [None, (-17.0, 180.0), (-17.0, -180.0), (-17.001, 179.998)])
@pytest.mark.parametrize("wrap", [to_180, to_360])
def test_soundings_on_both_sides_of_180_degrees_are_one_survey(tmp_path, wrap, datum):
    """As many east as west of it: the mean and the median of their longitudes are 0°."""
    path = text_across(tmp_path / "fiji.csv", FIJI, wrap)
    made = import_seabed([path], Choices(datum=datum, spacing=20.0, method="mesh"))
    assert worst_about(made, FIJI) < 1e-4
    assert abs(made.report.datum[1]) == pytest.approx(180.0, abs=0.003)
    assert max(made.report.extent_m) < 1300.0


@pytest.mark.parametrize("place", [(-17.0, 180.0), (51.5, 0.0), (47.0, -122.5)])
def test_files_may_count_their_longitudes_differently(tmp_path, place):
    files = [
        text_across(tmp_path / "a.csv", place, to_180, slice(0, 300)),
        text_across(tmp_path / "b.csv", place, to_360, slice(300, 600)),
    ]
    made = import_seabed(files, Choices(spacing=20.0, method="mesh"))
    assert worst_about(made, place) < 1e-4
    assert max(made.report.extent_m) < 1300.0


def test_a_sounding_astray_is_left_out_of_a_survey_across_180_degrees(tmp_path):
    path = text_across(tmp_path / "fiji.csv", FIJI, to_180)
    with path.open("a") as file:
        file.write("17.0,179.999,30\n")
    made = import_seabed([path], Choices(spacing=20.0))
    left_out = "1 soundings thousands of kilometres away left out (wrong hemisphere?): line 602"
    assert f"fiji.csv: {left_out}" in made.report.notes


def test_a_sounding_that_is_nowhere_on_earth_does_not_move_the_others(tmp_path):
    path = tmp_path / "a.csv"
    latitude, longitude, depth = across((60.0, 5.0), 600.0)
    x, y = pyproj.Transformer.from_crs(DEGREES, "EPSG:32631", always_xy=True).transform(
        longitude, latitude
    )
    np.savetxt(path, np.column_stack([x, y, depth]), "%.5f", ",", header="x,y,depth", comments="")
    with path.open("a") as file:
        file.write("1e30,1e30,30\n")
    made = import_seabed([path], Choices(spacing=20.0, method="mesh", crs="EPSG:32631"))
    assert made.report.soundings == 600
    assert worst_about(made, (60.0, 5.0)) < 1e-4


@pytest.mark.parametrize("spread", [0.005, 0.5])
def test_a_survey_around_the_pole_is_one_survey(tmp_path, spread):
    """All longitudes lie in it, and none is its middle."""
    random = np.random.default_rng(5)
    latitude = 90.0 - spread * np.sqrt(random.uniform(0.0, 1.0, 800))
    longitude = random.uniform(-180.0, 180.0, 800)
    path = tmp_path / "pole.xyz"
    np.savetxt(path, np.column_stack([latitude, longitude, 0 * latitude + 100.0]), "%.8f")
    made = import_seabed([path], Choices(datum=(90.0, 0.0)))
    assert made.report.soundings == 800
    assert made.report.extent_m[0] == pytest.approx(2.0 * spread * 111_690.0, rel=0.1)
    assert made.report.extent_m[1] == pytest.approx(made.report.extent_m[0], rel=0.05)


def text_around_the_pole(path):
    latitude, longitude = (
        np.random.default_rng(6).uniform((89.9, -180.0), (90.0, 180.0), (4000, 2)).T
    )
    np.savetxt(path, np.column_stack([latitude, longitude, 0 * latitude + 100.0]), "%.8f")
    return path


def geotiff_around_the_pole(path):
    side = {"height": 200, "width": 200, "count": 1, "crs": "EPSG:3413"}
    place = rasterio.transform.from_origin(-10_000.0, 10_000.0, 100.0, 100.0)
    with rasterio.open(path, "w", driver="GTiff", dtype="float64", transform=place, **side) as file:
        file.write(np.full((200, 200), -100.0), 1)
    return path


@pytest.mark.parametrize(
    ("name", "write"),
    [("a.xyz", text_around_the_pole), ("a.tif", geotiff_around_the_pole)],
)
def test_the_datum_of_a_survey_around_the_pole_is_in_its_middle(tmp_path, name, write):
    """The mean of its latitudes is half way to its edge."""
    made = import_seabed([write(tmp_path / name)], Choices(spacing=200.0))
    for axis in (made.terrain.north, made.terrain.east):
        assert abs(axis[0] + axis[-1]) <= 400.0
        assert np.ptp(axis) > 19_000.0
    assert "datum in the middle of the survey: " in "\n".join(made.report.notes)


def axes_across(wrap):
    steps = 1e-4 * np.arange(-70, 71)
    x, y = FIJI[1] + steps, FIJI[0] + steps
    return wrap(x), y, plane(*Plane(FIJI).to_plane(*np.meshgrid(x, y), DEGREES))


def netcdf_across(path, wrap, order=1):
    x, y, depth = axes_across(wrap)
    with h5netcdf.File(path, "w") as file:
        file.dimensions = {"lat": len(y), "lon": len(x)}
        file.create_variable("lat", ("lat",), data=y)
        file.create_variable("lon", ("lon",), data=x[::order])
        file.create_variable("elevation", ("lat", "lon"), data=-depth[:, ::order])
    return path


def ascii_across(path, wrap):
    x, y, depth = axes_across(wrap)
    rows = "\n".join(" ".join(f"{v:.5f}" for v in row) for row in depth[::-1])
    path.write_text(
        f"ncols {len(x)}\nnrows {len(y)}\nxllcenter {x[0]:.9f}\nyllcenter {y[0]:.9f}\n"
        f"cellsize 0.0001\n{rows}\n"
    )
    return path


def geotiff_across(path, crs, wrap=to_360):
    """About the date line, in degrees or metres of a system."""
    x, y, depth = axes_across(wrap)
    step = 1e-4
    if crs != DEGREES:
        step, half = 10.0, np.arange(-70, 71) * 10.0
        transform = pyproj.Transformer.from_crs(DEGREES, crs, always_xy=True).transform
        x0, y0 = transform(np.nextafter(180.0, 0.0), FIJI[0])
        x, y = x0 + half, y0 + half
        depth = plane(*Plane(FIJI).to_plane(*np.meshgrid(x, y), crs))
    place = rasterio.transform.from_origin(x[0] - step / 2, y[-1] + step / 2, step, step)
    shape = {"height": len(y), "width": len(x), "count": 1}
    with rasterio.open(
        path, "w", driver="GTiff", dtype="float64", crs=crs, transform=place, **shape
    ) as file:
        file.write(-depth[::-1], 1)
    return path


def bag_across(path):
    x, y, depth = axes_across(to_180)
    wkt = pyproj.CRS(DEGREES).to_wkt("WKT1_GDAL").replace('"', "&quot;")
    corners = f"{x[0]:.9f},{y[0]:.9f} {x[-1]:.9f},{y[-1]:.9f}"
    xml = f"<a><gml:coordinates>{corners}</gml:coordinates><code>{wkt}</code></a>".encode()
    with h5py.File(path, "w") as file:
        root = file.create_group("BAG_root")
        root["elevation"] = -depth
        root["metadata"] = np.frombuffer(xml, "S1")
    return path


RASTERS_ACROSS = {
    "NetCDF to 180": lambda folder: netcdf_across(folder / "a.nc", to_180),
    "NetCDF to 180, from the east": lambda folder: netcdf_across(folder / "a.nc", to_180, -1),
    "NetCDF to 360": lambda folder: netcdf_across(folder / "a.nc", to_360),
    "NetCDF beyond": lambda folder: netcdf_across(folder / "a.nc", beyond),
    "ASCII to 360": lambda folder: ascii_across(folder / "a.asc", to_360),
    "ASCII beyond": lambda folder: ascii_across(folder / "a.asc", beyond),
    "GeoTIFF to 360": lambda folder: geotiff_across(folder / "a.tif", DEGREES),
    "GeoTIFF beyond": lambda folder: geotiff_across(folder / "a.tif", DEGREES, beyond),
    "GeoTIFF in UTM, 60": lambda folder: geotiff_across(folder / "a.tif", "EPSG:32760"),
    "GeoTIFF in UTM, 1": lambda folder: geotiff_across(folder / "a.tif", "EPSG:32701"),
    "BAG to 180": lambda folder: bag_across(folder / "a.bag"),
}


@pytest.mark.parametrize("datum", [None, (-17.0, -180.0), (-17.001, 179.998)])
@pytest.mark.parametrize("name", RASTERS_ACROSS)
def test_rasters_across_180_degrees_lie_where_they_are(tmp_path, name, datum):
    made = import_seabed([RASTERS_ACROSS[name](tmp_path)], Choices(datum=datum, spacing=20.0))
    assert worst_about(made, FIJI) < 1e-4
    assert made.report.extent_m[1] < 1600.0


def test_a_netcdf_may_go_on_over_greenwich_from_360_degrees_to_0(tmp_path):
    path = netcdf_across(tmp_path / "a.nc", lambda longitude: to_360(longitude - 180.0))
    made = import_seabed([path], Choices(spacing=20.0))
    assert worst_about(made, (-17.0, 0.0)) < 1e-4
    assert made.report.datum == pytest.approx((-17.0, 0.0), abs=1e-4)


def test_files_of_all_sorts_across_180_degrees_are_merged(tmp_path):
    made = import_seabed(
        [
            geotiff_across(tmp_path / "a.tif", DEGREES, beyond),
            netcdf_across(tmp_path / "b.nc", to_360),
            text_across(tmp_path / "c.csv", FIJI, to_180),
        ],
        Choices(spacing=20.0),
    )
    assert worst_about(made, FIJI) < 1e-4
    assert made.report.extent_m[1] < 1600.0


def test_a_raster_beyond_the_edge_of_its_projection_is_refused(tmp_path):
    """Web Mercator ends at 180°: what lies beyond has two places in it."""
    path = geotiff_across(tmp_path / "a.tif", "EPSG:3857")
    with pytest.raises(
        SpecError, match=r"a\.tif: .*beyond the edge of .*Mercator(.*\n)*.*EPSG:32760"
    ):
        import_seabed([path], Choices(spacing=20.0))
    path = geotiff_across(tmp_path / "b.tif", "EPSG:3832")  # Mercator about 150° E
    assert worst_about(import_seabed([path], Choices(spacing=20.0)), FIJI) < 1e-4


def test_a_datum_on_the_other_side_of_the_earth_is_refused(tmp_path):
    """In the plane through its datum a survey there would lie about the datum, as in a mirror."""
    path = text_across(tmp_path / "fiji.csv", FIJI, to_180)
    with pytest.raises(SpecError, match=r"the survey reaches 12,\d{3} km from the datum"):
        import_seabed([path], Choices(datum=(17.0, 0.0), spacing=20.0))


@pytest.mark.parametrize(
    ("typed", "meant"), [(181.0, "-179"), (237.5, "-122.5"), (-180.25, "179.75"), (360.0, "0")]
)
def test_a_datum_beyond_180_degrees_is_refused_with_the_longitude_that_is_meant(typed, meant):
    with pytest.raises(SpecError, match=rf"--datum 47,{meant}\b"):
        check_choices(Choices(datum=(47.0, typed)))
    check_choices(Choices(datum=(47.0, 180.0)))
    check_choices(Choices(datum=(47.0, -180.0)))


@pytest.mark.parametrize("datum", [(0.005, 179.999), (0.005, -179.999), (-17.0, 180.0)])
def test_waypoints_across_180_degrees_lie_where_geodesics_end(datum):
    geod = pyproj.Geod(ellps="WGS84")
    for azimuth in (30.0, 90.0, 270.0):
        longitude, latitude, _ = geod.fwd(datum[1], datum[0], azimuth, 1000.0)
        found = from_latitude_longitude([[latitude, longitude, 0.0]], datum)[0, :2]
        turned = np.radians(azimuth)
        np.testing.assert_allclose(
            found, 1000.0 * np.array([np.cos(turned), np.sin(turned)]), atol=1e-3
        )
