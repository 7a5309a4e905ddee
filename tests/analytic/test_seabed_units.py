"""Depths come out in metres, whatever unit, scale and offset a survey file states."""

import h5netcdf
import numpy as np
import pytest
import rasterio

from seatrial.bathymetry.choices import Choices, check_choices
from seatrial.bathymetry.importing import import_seabed
from seatrial.errors import SpecError

DATUM = (60.0, 5.0)
US_FOOT = 1200.0 / 3937.0
UTM = "EPSG:32631"


def depths(x, y):
    """Of a plane over degrees, m: up to some hundred metres."""
    return 130.0 + 40_000.0 * (np.asarray(y) - 60.0) + 9_000.0 * (np.asarray(x) - 5.0)


def imported(path, **choices):
    return import_seabed([path], Choices(**{"datum": DATUM, "spacing": 20.0} | choices))


def said(made):
    return "\n".join(made.report.notes)


def check_depths(made, within=1e-2):
    """Against the plane, in the middle of the map."""
    ways = np.array([-100.0, 0.0, 100.0])
    found = np.array([[made.terrain.at(n, e) for e in ways] for n in ways])
    lat, lon = 60.0 + ways / 111_412.0, 5.0 + ways / 55_800.0
    np.testing.assert_allclose(found, depths(lon[None, :], lat[:, None]), atol=within)


def soundings(path, header, unit=1.0, separator=","):
    y, x = np.random.default_rng(1).uniform((59.996, 4.994), (60.004, 5.006), (3000, 2)).T
    rows = np.column_stack([y, x, depths(x, y) / unit])
    np.savetxt(path, rows, "%.9f", separator, header=header, comments="")
    return path


HEADERS = [
    ("lat,lon,depth (ft)", 0.3048, "ft"),
    ("lat,lon,depth [feet]", 0.3048, "feet"),
    ("lat lon depth (US survey ft)", US_FOOT, "us survey ft"),
    ("lat;lon;Depth (feet, MLLW)", 0.3048, "feet"),
    ("lat,lon,depth (fathoms)", 1.8288, "fathoms"),
    ("lat,lon,depth (cm)", 0.01, "cm"),
    ("lat,lon,depth_ft", 0.3048, "ft"),
    ("lat,lon,depth_us_survey_feet", US_FOOT, "us survey feet"),
    ("lat,lon,DepthFt", 0.3048, "ft"),
    ("lat,lon,z_km", 1000.0, "km"),
    ("lat,lon,depth (m)", 1.0, None),
    ("lat,lon,Depth_metres", 1.0, None),
]


@pytest.mark.parametrize(("header", "unit", "word"), HEADERS)
def test_depths_of_a_text_are_in_the_unit_of_their_header(tmp_path, header, unit, word):
    separator = next((s for s in ",;" if s in header.partition("(")[0]), " ")
    made = imported(soundings(tmp_path / "a.csv", header, unit, separator), method="mesh")
    check_depths(made)
    assert made.report.soundings == 3000
    assert ("depths in" in said(made)) == (word is not None)
    if word:
        assert f"a.csv: depths in {word}, {unit:.10g} m each" in said(made)


def test_a_unit_that_is_not_known_is_refused_with_a_way_out_that_works(tmp_path):
    path = soundings(tmp_path / "a.csv", "lat,lon,depth (dbar)")
    with pytest.raises(SpecError, match=r"a\.csv:1: .*unit(.*\n)*.*dbar") as refused:
        imported(path)
    assert "--columns latitude,longitude,depth_m" in str(refused.value)
    check_depths(imported(path, columns=("latitude", "longitude", "depth_m"), method="mesh"))


def test_columns_that_are_named_keep_the_unit_of_the_header(tmp_path):
    for header in ("lat,lon,depth (ft)", "lat,lon,depth_ft", "breite,laenge,tiefe (ft)"):
        path = soundings(tmp_path / "a.csv", header, 0.3048)
        made = imported(path, columns=("latitude", "longitude", "depth"), method="mesh")
        check_depths(made)
        assert "depths in ft" in said(made)
    bare = soundings(tmp_path / "b.csv", "breite,laenge,tiefe", 1.8288)
    check_depths(imported(bare, columns=("lat", "lon", "depth_fathoms"), method="mesh"))


def test_metres_from_the_datum_may_be_feet(tmp_path):
    east, north = np.random.default_rng(1).uniform(-300, 300, (2, 3000))
    z = depths(5.0 + east / 55_800.0, 60.0 + north / 111_412.0)
    for header, unit in (("east (ft),north (ft),depth", 0.3048), ("east_km,north_km,depth", 1e3)):
        path = tmp_path / "a.csv"
        rows = np.column_stack([east / unit, north / unit, z])
        np.savetxt(path, rows, "%.9f", ",", header=header, comments="")
        check_depths(imported(path, method="mesh"))


def test_a_deep_survey_in_centimetres_is_not_taken_for_deeper_than_any_sea(tmp_path):
    path = soundings(tmp_path / "a.csv", "lat,lon,depth (cm)", 0.01)
    lines = path.read_text().splitlines()
    lines[7] = "60.0,5.0,1300000"
    path.write_text("\n".join(lines) + "\n")
    made = imported(path)
    assert made.report.soundings == 2999
    assert "a depth beyond 12000 m: line 8" in said(made)


AXIS = np.arange(-60, 61) * 1e-4


def netcdf(path, numbers, dtype="f8", axes=("lon", "lat"), x=5.0 + AXIS, y=60.0 + AXIS, **attrs):
    units = {k[5:]: attrs.pop(k) for k in list(attrs) if k.startswith("axis_")}
    with h5netcdf.File(path, "w") as file:
        file.dimensions = {axes[1]: len(y), axes[0]: len(x)}
        for name, axis in zip(axes, (x, y), strict=True):
            file.create_variable(name, (name,), data=axis).attrs.update(units)
        z = file.create_variable("elevation", axes[::-1], dtype, data=numbers.astype(dtype))
        for name, value in attrs.items():
            z.attrs[name] = value
    return path


def rasters(unit=1.0):
    return -depths(*np.meshgrid(5.0 + AXIS, 60.0 + AXIS)) / unit


@pytest.mark.parametrize(
    ("word", "unit"), [("feet", 0.3048), ("US_survey_foot", US_FOOT), ("cm", 0.01), ("meters", 1.0)]
)
def test_depths_of_a_netcdf_are_in_its_units(tmp_path, word, unit):
    made = imported(netcdf(tmp_path / "a.nc", rasters(unit), units=word))
    check_depths(made)
    assert ("depths in" in said(made)) == (unit != 1.0)


def test_units_of_a_netcdf_that_are_not_known_are_refused(tmp_path):
    with pytest.raises(SpecError, match=r"a\.nc: .*unit(.*\n)*.*hPa"):
        imported(netcdf(tmp_path / "a.nc", rasters(), units="hPa"))
    path = netcdf(tmp_path / "b.nc", rasters(), axis_units="radian")
    with pytest.raises(SpecError, match=r"b\.nc: .*unit(.*\n)*.*radian"):
        imported(path)


def test_packed_numbers_of_a_netcdf_may_be_larger_than_any_depth(tmp_path):
    numbers = np.round((rasters() + 20.0) * 100.0)
    assert np.abs(numbers).max() > 12_000.0
    numbers[3, 4], numbers[5, 6] = -32768, 32767
    path = netcdf(
        tmp_path / "a.nc", numbers, "i4", scale_factor=0.01, add_offset=-20.0,
        _FillValue=np.int32(-32768), missing_value=np.int32(32767),
    )  # fmt: skip
    made = imported(path)
    check_depths(made, within=0.02)
    assert made.report.soundings == numbers.size - 2


def test_axes_of_a_netcdf_may_be_in_kilometres(tmp_path):
    way = np.arange(-60, 61) * 5.0
    x, y = 5.0 + way / 55_800.0, 60.0 + way / 111_412.0
    path = netcdf(
        tmp_path / "a.nc", -depths(*np.meshgrid(x, y)), axes=("east", "north"), x=way / 1e3,
        y=way / 1e3, axis_units="km",
    )  # fmt: skip
    check_depths(imported(path))


def geotiff(path, bands, dtype="float64", crs="EPSG:4326", nodata=None, **more):
    place = rasterio.transform.from_origin(5 + AXIS[0] - 5e-5, 60 + AXIS[-1] + 5e-5, 1e-4, 1e-4)
    shape = {"height": len(AXIS), "width": len(AXIS), "count": len(bands), "nodata": nodata}
    with rasterio.open(
        path, "w", driver="GTiff", dtype=dtype, crs=crs, transform=place, **shape
    ) as file:
        for k, band in enumerate(bands):
            file.write(band[::-1].astype(dtype), k + 1)
        for name, value in more.items():
            setattr(file, name, value)
    return path


def test_scale_and_offset_of_a_geotiff_are_applied_and_its_holes_stay(tmp_path):
    numbers = np.round((rasters() + 20.0) * 100.0)
    numbers[30:33, 40:44] = -32768
    path = geotiff(
        tmp_path / "a.tif", [numbers], "int16", nodata=-32768, scales=(0.01,), offsets=(-20.0,)
    )
    made = imported(path)
    check_depths(made, within=0.02)
    assert made.report.soundings == numbers.size - 12
    assert "a.tif: numbers times 0.01 plus -20, as the file says" in said(made)


def test_a_geotiff_that_names_no_number_for_holes_has_the_usual_one(tmp_path):
    numbers = rasters()
    numbers[30:33, 40:44] = -9999.0
    made = imported(geotiff(tmp_path / "a.tif", [numbers]))
    check_depths(made, within=0.02)
    assert made.report.soundings == numbers.size - 12


@pytest.mark.parametrize(
    ("word", "unit"), [("ft", 0.3048), ("US survey foot", US_FOOT), ("metre", 1.0)]
)
def test_depths_of_a_geotiff_are_in_the_unit_of_its_band(tmp_path, word, unit):
    made = imported(geotiff(tmp_path / "a.tif", [rasters(unit)], units=(word,)))
    check_depths(made)
    assert ("depths in" in said(made)) == (unit != 1.0)


def test_heights_of_a_geotiff_are_in_the_unit_of_its_vertical_system(tmp_path):
    path = geotiff(tmp_path / "a.tif", [rasters(US_FOOT)], crs="EPSG:4326+6360")  # NAVD88, ftUS
    made = imported(path)
    check_depths(made)
    assert "depths in us survey foot" in said(made)


def test_bands_that_are_left_out_are_said(tmp_path):
    made = imported(geotiff(tmp_path / "a.tif", [rasters(), 0.0 * rasters()]))
    check_depths(made)
    assert "a.tif: band 1 of 2 is read" in said(made)
    assert "band 1" not in said(imported(geotiff(tmp_path / "b.tif", [rasters()])))


ASCII = "ncols 3\nnrows 3\nxllcorner 5\nyllcorner 60\ncellsize 0.0001\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (ASCII + "1 2 3\n1 2 3\n1 abc 3\n", r"a\.asc:8: a row that is not 3 numbers\n.*abc"),
        (ASCII + "1 2 3\n1 2\n1 2 3\n", r"a\.asc:7: "),
        (ASCII.replace("ncols 3", "ncols -5"), r"a\.asc:1: `ncols` is not above 0(.*\n)*.*-5"),
        (ASCII.replace("nrows 3", "nrows 0"), r"a\.asc:2: `nrows` is not above 0"),
        (ASCII.replace("ncols 3", "ncols inf"), r"a\.asc:1: `ncols` is no whole number"),
        (ASCII.replace("0.0001", "0"), r"a\.asc:5: `cellsize` is not above 0"),
        (ASCII.replace("0.0001", "nan"), r"a\.asc:5: `cellsize` is not above 0"),
        (ASCII.replace("xllcorner 5\n", ""), r"the header has no `xllcorner`"),
    ],
)
def test_what_is_wrong_with_an_ascii_grid_is_told_with_its_line(tmp_path, content, message):
    (tmp_path / "a.asc").write_text(content)
    with pytest.raises(SpecError, match=message):
        import_seabed([tmp_path / "a.asc"], Choices())


def test_places_on_one_line_are_counted_as_they_are(tmp_path):
    path = tmp_path / "line.csv"
    path.write_text("lat,lon,depth\n" + "".join(f"{60 + k * 1e-4:.6f},5,10\n" for k in range(50)))
    with pytest.raises(SpecError, match="50 different places that span no area"):
        import_seabed([path], Choices(datum=DATUM))


def test_an_offset_that_is_no_number_is_refused():
    with pytest.raises(SpecError, match="offset"):
        check_choices(Choices(offset=float("nan")))
