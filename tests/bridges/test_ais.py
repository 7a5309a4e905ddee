"""AIS messages as pyais decodes them."""

import math

import pyais
import pytest

from seatrial.bridges.nmea.ais import (
    Report,
    Sequence,
    Station,
    mmsi_of,
    period_of,
    position_report,
    static_reports,
)
from seatrial.spatial.geodesy import to_geodetic

DATUM = (-33.85, 151.2)
SHIP = Station(mmsi_of(7), "MARINER 1", 160.0, 24.0)
BOAT = Station(mmsi_of(8), "otter", 2.0, 1.0)
BUOY = Station(mmsi_of(9, aid=True), "port mark 3", 1.2, 1.2, aid=True)
REPORT = Report(75.0, 500.0, -900.0, -0.5, 7.7, 1.25, math.radians(-16.115 / 60.0))


def decoded(message, own=False, sequence=None):
    sentences = (sequence or Sequence()).spoken(message, own)
    assert all(len(s) <= 82 for s in sentences)
    assert all(s.startswith("!AIVDO" if own else "!AIVDM") for s in sentences)
    return pyais.decode(*(s.strip().encode() for s in sentences), error_if_checksum_invalid=True)


@pytest.mark.parametrize(("station", "kind"), [(SHIP, 1), (BOAT, 18), (BUOY, 21)])
def test_positions(station, kind):
    found = decoded(position_report(station, REPORT, DATUM))
    latitude, longitude, _ = (float(a) for a in to_geodetic([500.0, -900.0, 0.0], DATUM))
    assert (found.msg_type, found.mmsi) == (kind, station.mmsi)
    assert found.lat == pytest.approx(latitude, abs=1.0 / 600_000.0)
    assert found.lon == pytest.approx(longitude, abs=1.0 / 600_000.0)
    assert found.second == 15
    if station.aid:
        assert found.name == "PORT MARK 3"
        assert not found.virtual_aid
    else:
        assert found.speed == pytest.approx(7.7 * 3600 / 1852, abs=0.051)
        assert found.course == pytest.approx(math.degrees(-0.5) % 360, abs=0.051)
        assert found.heading == round(math.degrees(1.25))
    if kind == 18:
        # A unit by carrier sense has no communication state and says so by these bits.
        assert (found.cs, found.radio) == (True, 0b1100000000000000110 | 1 << 19)
    if kind == 1:
        assert found.turn == -16.0  # degrees per minute, to port: (19/4.733)²


def test_names_and_sizes_of_a_ship_take_two_sentences_and_of_a_boat_two_messages():
    (message,) = static_reports(SHIP)
    assert len(Sequence().spoken(message, own=False)) == 2
    found = decoded(message)
    assert (found.msg_type, found.shipname) == (5, "MARINER 1")
    assert (found.to_bow + found.to_stern, found.to_port + found.to_starboard) == (160, 24)
    first, second = (decoded(m, own=True) for m in static_reports(BOAT))
    assert (first.msg_type, first.partno, first.shipname) == (24, 0, "OTTER")
    assert (second.msg_type, second.partno) == (24, 1)
    assert (second.to_bow, second.to_stern) == (1, 1)
    assert static_reports(BUOY) == []


@pytest.mark.parametrize("length", [1.0, 5.0, 6.9, 19.0])
def test_bow_and_stern_together_are_the_length(length):
    found = decoded(static_reports(Station(mmsi_of(2), "odd", length, length))[1])
    assert found.to_bow + found.to_stern == round(length)
    assert found.to_port + found.to_starboard == round(length)


def test_messages_of_several_sentences_are_numbered_apart():
    (message,), sequence = static_reports(SHIP), Sequence()
    labels = [sequence.spoken(message, own=False)[1].split(",")[3] for _ in range(12)]
    assert labels == [str(i % 10) for i in range(12)]


def test_what_no_symbol_stands_for_is_a_question_mark_and_long_names_are_cut():
    odd = Station(mmsi_of(1), "Bøe_a_name_longer_than_twenty", 30.0, 5.0)
    (message,) = static_reports(odd)
    assert decoded(message).shipname == "B?E_A_NAME_LONGER_TH"


def test_extremes_stay_within_their_fields():
    wild = Report(1e6, 0.0, 0.0, 10.0, 500.0, -30.0, math.radians(900.0))
    found = decoded(position_report(SHIP, wild, DATUM))
    assert found.speed == 102.2
    assert 0 <= found.course < 360
    assert 0 <= found.heading < 360
    whole_circle = Report(0.0, 0.0, 0.0, math.tau - 1e-6, 1.0, math.tau - 1e-6, 0.0)
    found = decoded(position_report(BOAT, whole_circle, DATUM))
    assert (found.course, found.heading) == (0.0, 0)


@pytest.mark.parametrize(
    ("station", "knots", "turn", "seconds"),
    [
        *((SHIP, 5.0, 0.0, 10.0), (SHIP, 5.0, 1.0, 10.0 / 3.0), (SHIP, 20.0, 0.0, 6.0)),
        *((SHIP, 20.0, -1.0, 2.0), (SHIP, 30.0, 0.0, 2.0), (BOAT, 1.0, 0.0, 180.0)),
        *((BOAT, 5.0, 0.0, 30.0), (BOAT, 20.0, 0.0, 30.0), (BUOY, 0.0, 0.0, 180.0)),
    ],
)
def test_reports_come_as_often_as_the_recommendation_asks(station, knots, turn, seconds):
    report = Report(0.0, 0.0, 0.0, 0.0, knots * 1852 / 3600, 0.0, math.radians(turn))
    assert period_of(station, report) == seconds
