"""Survey files lie where their own datum puts them, whichever datum and system they count from.

The bottom is a plane in the local frame: linear interpolation reproduces it but for rounding.
"""

import h5netcdf
import h5py
import numpy as np
import pyproj
import pytest
import rasterio

from seatrial.bathymetry.choices import Choices
from seatrial.bathymetry.importing import import_seabed
from seatrial.bathymetry.projection import Plane
from seatrial.bathymetry.store import write_map
from seatrial.errors import SpecError
from seatrial.geometry.terrain import terrain
from seatrial.spatial.geodesy import to_geodetic, to_ned

HERE = (-33.85, 151.27)
ELSEWHERE = (-33.8, 151.3)
AGD66 = "EPSG:4202"


def plane(north, east):
    """Depth, m."""
    return 30.0 + 0.02 * np.asarray(north) - 0.013 * np.asarray(east)


def around(datum, half=600.0, step=10.0):
    """Axes about the place of HERE, in metres from a datum, the corners rounded outwards."""
    n, e, _ = to_ned(*HERE, 0.0, datum)
    steps = np.arange(-half, half + 1e-9, step)
    return np.round(n) + steps, np.round(e) + steps


def own_map(path, datum, kept=True):
    """A map of the plane about HERE that counts from `datum`."""
    north, east = around(datum)
    n, e = np.meshgrid(north, east, indexing="ij")
    latitude, longitude, _ = to_geodetic(np.stack([n, e, 0 * n]), datum)
    depth = plane(*Plane(HERE).to_plane(longitude, latitude, "EPSG:4326"))
    made = terrain((north[0], east[0]), (10.0, 10.0), depth)
    write_map(path, made, datum if kept else None, {})
    return path


def worst(made, inside=450.0):
    """Largest error of a map about HERE against the plane, well inside of it."""
    n, e = np.meshgrid(made.terrain.north, made.terrain.east, indexing="ij")
    near = np.maximum(np.abs(n), np.abs(e)) <= inside
    assert near.sum() > 900
    return np.abs(made.terrain.depth - plane(n, e))[near].max()


def said(made):
    return "\n".join(made.report.notes)


def degrees(crs, step=1e-4, half=0.007):
    """Axes of longitude and latitude in a system, and the plane's depth at their nodes."""
    back = pyproj.Transformer.from_crs("EPSG:4326", crs, always_xy=True)
    x0, y0 = back.transform(*HERE[::-1])
    steps = np.arange(-half, half, step)
    x, y = x0 + steps, y0 + steps
    longitude, latitude = back.transform(*np.meshgrid(x, y), direction="INVERSE")
    north, east = Plane(HERE).to_plane(longitude, latitude, "EPSG:4326")
    return x, y, plane(north, east)


def geotiff(path, crs):
    x, y, depth = degrees(crs)
    place = rasterio.transform.from_origin(x[0] - 5e-5, y[-1] + 5e-5, 1e-4, 1e-4)
    shape = {"height": len(y), "width": len(x), "count": 1}
    with rasterio.open(
        path, "w", driver="GTiff", dtype="float64", crs=crs, transform=place, **shape
    ) as file:
        file.write(-depth[::-1], 1)
    return path


def soundings(path, crs, header="lat,lon,depth"):
    x, y, depth = degrees(crs, step=3e-4)
    gx, gy = np.meshgrid(x, y)
    rows = np.column_stack([gy.ravel(), gx.ravel(), depth.ravel()])
    np.savetxt(path, rows, "%.9f", ",", header=header, comments="")
    return path


def test_a_map_is_moved_to_another_datum(tmp_path):
    path = own_map(tmp_path / "own.nc", ELSEWHERE)
    made = import_seabed([path], Choices(datum=HERE, spacing=10.0))
    assert worst(made) < 1e-4
    assert "own.nc: counts from a datum of its own, -33.800000, 151.300000" in said(made)


def test_a_map_that_keeps_its_datum_keeps_every_depth(tmp_path):
    path = own_map(tmp_path / "own.nc", HERE)
    with h5netcdf.File(path, "r") as file:
        depth = np.asarray(file["depth"][:], np.float64)
    for datum in (HERE, None):
        made = import_seabed([path], Choices(datum=datum, spacing=10.0))
        assert made.report.datum == HERE
        np.testing.assert_array_equal(made.terrain.depth, depth)


def test_a_map_is_merged_where_it_lies(tmp_path):
    own = own_map(tmp_path / "own.nc", ELSEWHERE)
    other = soundings(tmp_path / "a.csv", "EPSG:4326")
    for files in ([own, other], [other, own]):
        made = import_seabed(files, Choices(datum=HERE, spacing=10.0))
        assert worst(made) < 2e-3
        assert max(made.report.extent_m) < 1600.0
        # Without a datum that of the map stays, so that worlds made for it keep their places.
        assert import_seabed(files, Choices(spacing=10.0)).report.datum == ELSEWHERE


def test_a_map_without_a_datum_counts_from_that_of_the_import_and_says_so(tmp_path):
    path = own_map(tmp_path / "own.nc", HERE, kept=False)
    made = import_seabed([path], Choices(datum=HERE, spacing=10.0))
    assert worst(made) < 1e-5
    assert "own.nc: it names no datum: its metres are taken to count from that of the map" in said(
        made
    )


def test_a_map_with_a_datum_that_is_none_is_refused(tmp_path):
    path = own_map(tmp_path / "own.nc", HERE)
    with h5py.File(path, "r+") as file:
        file.attrs["datum_latitude_deg"] = 95.0
    with pytest.raises(SpecError, match=r"own\.nc: .*datum"):
        import_seabed([path], Choices(datum=HERE))


def test_degrees_of_a_geotiff_are_those_of_its_own_datum(tmp_path):
    made = import_seabed([geotiff(tmp_path / "a.tif", AGD66)], Choices(datum=HERE, spacing=10.0))
    assert worst(made) < 1e-3
    assert "a.tif: from AGD66 to WGS 84 by PROJ (AGD66 to WGS 84 (13)), within 3 m" in said(made)


def test_degrees_of_a_text_are_those_of_the_system_that_is_named(tmp_path):
    path = soundings(tmp_path / "a.csv", AGD66)
    choices = Choices(datum=HERE, spacing=30.0, method="mesh", crs=AGD66)
    made = import_seabed([path], choices)
    assert worst(made) < 1e-3
    assert "from AGD66 to WGS 84" in said(made)
    for header in ("y,x,depth", "0"):  # without names, and without a header
        path = soundings(tmp_path / "b.csv", AGD66, header)
        if header == "0":
            path.write_text(path.read_text().partition("\n")[2])
        assert worst(import_seabed([path], choices)) < 1e-3


def netcdf(path, crs, **names):
    x, y, depth = degrees(crs)
    with h5netcdf.File(path, "w") as file:
        file.dimensions = {"lat": len(y), "lon": len(x)}
        file.create_variable("lat", ("lat",), data=y)
        file.create_variable("lon", ("lon",), data=x)
        z = file.create_variable("elevation", ("lat", "lon"), data=-depth)
        z.attrs["grid_mapping"] = "crs"
        file.create_variable("crs", (), np.int32).attrs.update(names)
    return path


def test_degrees_of_a_netcdf_are_those_of_its_grid_mapping(tmp_path):
    wkt = pyproj.CRS(AGD66).to_wkt()
    for name in ("crs_wkt", "spatial_ref"):  # CF, and GDAL
        path = netcdf(tmp_path / "a.nc", AGD66, **{name: wkt})
        made = import_seabed([path], Choices(datum=HERE, spacing=10.0))
        assert worst(made) < 1e-3
        assert "from AGD66 to WGS 84" in said(made)


def test_degrees_of_a_netcdf_stay_degrees_where_other_files_are_in_metres(tmp_path):
    path = netcdf(tmp_path / "a.nc", "EPSG:4326")
    made = import_seabed([path], Choices(datum=HERE, spacing=10.0, crs="EPSG:32756"))
    assert worst(made) < 1e-3


def test_degrees_of_an_ascii_grid_are_those_of_the_prj_beside_it(tmp_path):
    x, y, depth = degrees(AGD66)
    rows = "\n".join(" ".join(f"{v:.5f}" for v in row) for row in depth[::-1])
    (tmp_path / "a.asc").write_text(
        f"ncols {len(x)}\nnrows {len(y)}\nxllcenter {x[0]:.9f}\nyllcenter {y[0]:.9f}\n"
        f"cellsize 0.0001\n{rows}\n"
    )
    (tmp_path / "a.prj").write_text(pyproj.CRS(AGD66).to_wkt("WKT1_ESRI"))
    made = import_seabed([tmp_path / "a.asc"], Choices(datum=HERE, spacing=10.0))
    assert worst(made) < 1e-3


def bag(path, crs):
    x, y, depth = degrees(crs)
    wkt = pyproj.CRS(crs).to_wkt("WKT1_GDAL").replace('"', "&quot;")
    corners = f"{x[0]:.9f},{y[0]:.9f} {x[-1]:.9f},{y[-1]:.9f}"
    xml = f"<a><gml:coordinates>{corners}</gml:coordinates><code>{wkt}</code></a>".encode()
    with h5py.File(path, "w") as file:
        root = file.create_group("BAG_root")
        root["elevation"] = -depth
        root["metadata"] = np.frombuffer(xml, "S1")
    return path


def test_degrees_of_a_bag_are_those_of_its_own_datum(tmp_path):
    made = import_seabed([bag(tmp_path / "a.bag", AGD66)], Choices(datum=HERE, spacing=10.0))
    assert worst(made) < 1e-3


def test_a_system_to_which_no_way_is_known_is_a_doubt_in_the_report(tmp_path):
    path = soundings(tmp_path / "a.csv", "EPSG:4326")
    crs = "+proj=longlat +ellps=clrk66"
    made = import_seabed([path], Choices(datum=HERE, spacing=30.0, crs=crs))
    assert "PROJ knows no way to WGS 84" in said(made)
    plain = import_seabed([path], Choices(datum=HERE, spacing=30.0, crs="EPSG:4326"))
    assert "PROJ" not in said(plain)


def test_a_file_that_names_its_system_keeps_it_whatever_others_need(tmp_path):
    path = geotiff(tmp_path / "a.tif", AGD66)
    made = import_seabed([path], Choices(datum=HERE, spacing=10.0, crs="EPSG:32756"))
    assert worst(made) < 1e-3
    assert "a.tif: it names its own reference system: --crs is for files that name none" in said(
        made
    )


def test_a_system_without_a_place_on_earth_is_none_and_may_be_named(tmp_path):
    path = geotiff(tmp_path / "a.tif", AGD66)
    with rasterio.open(path, "r+") as file:
        file.crs = rasterio.crs.CRS.from_wkt('LOCAL_CS["site",UNIT["metre",1]]')
    made = import_seabed([path], Choices(datum=HERE, spacing=10.0, crs=AGD66))
    assert worst(made) < 1e-3


@pytest.mark.parametrize(("crs", "header"), [("EPSG:32756", ""), ("local", ""), ("local", "x,y,z")])
def test_text_in_metres_needs_no_header_where_its_system_is_named(tmp_path, crs, header):
    north, east = np.random.default_rng(1).uniform(-600, 600, (2, 3000))
    latitude, longitude, _ = to_geodetic(np.stack([north, east, 0 * north]), HERE)
    depth = plane(*Plane(HERE).to_plane(longitude, latitude, "EPSG:4326"))
    x, y = Plane(HERE).to_system(north, east, crs)
    path = tmp_path / "a.xyz"
    np.savetxt(path, np.column_stack([x, y, depth]), "%.5f", header=header, comments="")
    if not header:
        path.write_text(path.read_text().lstrip("\n"))
    made = import_seabed([path], Choices(datum=HERE, spacing=20.0, method="mesh", crs=crs))
    assert worst(made) < 1e-4
    if not header:
        assert f"no header: columns taken as x, y, depth of {crs}" in said(made)
