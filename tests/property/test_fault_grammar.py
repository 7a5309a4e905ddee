"""A fault written in one line: what is written is what is read, and nothing else is accepted."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seatrial.errors import SpecError
from seatrial.spec.fault_grammar import parse_fault
from seatrial.spec.faults import KINDS, QUANTITIES

names = st.from_regex(r"[a-z][a-z0-9_]{0,11}", fullmatch=True)
numbers = st.floats(-1e9, 1e9, allow_nan=False)
positive = st.floats(1e-6, 500.0)
measures = st.one_of(numbers, st.lists(numbers, min_size=2, max_size=4).map(tuple))
suffixes = st.sampled_from(["", "deg", "rpm", "kn"])
quantities = st.one_of(st.sampled_from(sorted(QUANTITIES)), names.map("command.{}".format))
components = st.one_of(st.none(), st.lists(names, min_size=1, max_size=3).map(tuple))
probability = st.floats(1e-3, 1.0)
detection = {"detected_after": st.one_of(st.none(), positive)}
in_units = {"components": components, "unit": suffixes}

OPTIONS = {
    "dropout": {"probability": probability},
    "freeze": {"components": components},
    "stuck": {"value": measures, **in_units},
    "bias": {"value": measures, **in_units},
    "drift": {"rate": measures, **in_units},
    "spikes": {"magnitude": measures, "probability": probability, **in_units},
    "noise": {"deviation": measures, **in_units},
    "delay": {"delay": positive},
    "loss_of_lock": {},
    "power_loss": detection,
    "reduced": {"effectiveness": st.floats(0.0, 0.999)},
    "jam": {"value": numbers, "unit": suffixes, **detection},
    "free_float": detection,
    "runaway": {"towards": st.sampled_from(["upper", "lower"]), **detection},
    "added_drag": {"drag_area": positive},
    "loss": {"then": st.sampled_from(["hold", "zero"])},
    "lost": {},
    "ingress": {"mass": positive, "rate": positive},
}
TARGETS = {"added_drag": "hull", "loss": "comms", "lost": "link", "ingress": "hull"}


@st.composite
def faults(draw):
    """Kind, target, options and trigger of a fault, as its class takes them."""
    kind = draw(st.sampled_from(sorted(KINDS)))
    data = {"kind": kind, "target": TARGETS.get(kind) or draw(names)}
    for key, values in OPTIONS[kind].items():
        value = draw(values)
        if value is not None:
            data[key] = value
    trigger = draw(st.sampled_from(["", "start", "when", "random"]))
    lasts = draw(st.one_of(st.none(), positive))
    if trigger == "start":
        data["start"] = draw(st.floats(0.0, 1e6))
    elif trigger == "when":
        data["when"] = {
            "quantity": draw(quantities),
            draw(st.sampled_from(["above", "below"])): draw(numbers),
            "unit": draw(suffixes),
        }
    elif trigger == "random":
        data["random"] = {"per_hour": draw(positive)}
    if lasts is not None and trigger:
        (data["random"] if trigger == "random" else data)["duration"] = lasts
    return data


def _written(value):
    return ",".join(map(_written, value)) if isinstance(value, tuple) else str(value)


def write(data, vehicle=None, gap=" "):
    """The line that describes a fault."""
    parts = []
    for key in OPTIONS[data["kind"]]:
        if key in data and key != "unit":
            in_unit = isinstance(data[key], float | tuple) and key not in (
                "components",
                "probability",
                "detected_after",
            )
            parts.append(f"{key}={_written(data[key])}" + (data.get("unit", "") if in_unit else ""))
    if "start" in data:
        parts.append(f"@{gap}{data['start']}s")
    if "when" in data:
        when = data["when"]
        sign, threshold = (">", when["above"]) if "above" in when else ("<", when["below"])
        parts.append(f"when {when['quantity']}{gap}{sign}{gap}{threshold}{when['unit']}")
    if "random" in data:
        parts.append(f"random {data['random']['per_hour']}/h")
    lasts = data.get("duration", data.get("random", {}).get("duration"))
    if lasts is not None:
        parts.append(f"for {lasts}s")
    head = f"{vehicle}/" if vehicle else ""
    return " ".join([f"{head}{data['target']}:{gap}{data['kind']}", *parts])


@given(faults(), st.one_of(st.none(), names), st.sampled_from(["", " ", "  "]))
def test_a_fault_reads_as_it_was_written(data, vehicle, gap):
    assert parse_fault(write(data, vehicle, gap)) == (vehicle, KINDS[data["kind"]](**data))


def test_every_kind_of_fault_has_its_options_in_this_test():
    assert set(OPTIONS) == set(KINDS)
    base = {"kind", "target", "start", "duration", "random", "when"}
    for kind, cls in KINDS.items():
        assert set(cls.model_fields) - base == set(OPTIONS[kind]), kind


@given(st.one_of(st.text(), st.lists(st.sampled_from([
    "imu", ":", "freeze", "bias", "value=", "3", "deg", "@", "when", "depth", ">", "random", "/h",
    "for", "10s", ",", " ", "=", "nan", "1e999", "boat/", "components=", "-", "unit=deg",
]), max_size=12).map(" ".join)))  # fmt: skip
def test_other_text_is_refused_with_what_was_expected(text):
    try:
        vehicle, fault = parse_fault(text)
    except SpecError as error:
        for problem in error.problems:
            assert problem.message
            assert problem.value is not None
            assert problem.expected
            assert problem.mend
    else:
        assert vehicle is None or isinstance(vehicle, str)
        assert KINDS[fault.kind] is type(fault)


EXAMPLES = {
    "imu: freeze @ 30s": {"kind": "freeze", "target": "imu", "start": 30.0},
    "imu:freeze@30": {"kind": "freeze", "target": "imu", "start": 30.0},
    "dvl: loss_of_lock random 4/h for 15s": {
        "kind": "loss_of_lock",
        "target": "dvl",
        "random": {"per_hour": 4.0, "duration": 15.0},
    },
    "gnss: delay delay=200ms when time > 1": {
        "kind": "delay",
        "target": "gnss",
        "delay": 0.2,
        "when": {"quantity": "time", "above": 1.0},
    },
    "compass: bias value=10deg @ 1min for 2h": {
        "kind": "bias",
        "target": "compass",
        "value": 10.0,
        "unit": "deg",
        "start": 60.0,
        "duration": 7200.0,
    },
    "hull: added_drag drag_area=0.2m^2 when depth > 10m": {
        "kind": "added_drag",
        "target": "hull",
        "drag_area": 0.2,
        "when": {"quantity": "depth", "above": 10.0},
    },
}


@pytest.mark.parametrize("text", EXAMPLES)
def test_units_and_spaces_are_read_as_people_write_them(text):
    vehicle, fault = parse_fault(text)
    assert vehicle is None
    assert fault == KINDS[EXAMPLES[text]["kind"]](**EXAMPLES[text])


REFUSED = {
    "imu freeze": "TARGET: KIND",
    "boat_2.imu: freeze @ 30s": "write 'boat_2/imu: freeze @ 30s'",
    "imu: frees @ 30s": "did you mean `freeze`?",
    "imu: freeze @ soon": "a time such as 30s",
    "imu: freeze @ 3 @ 4": "given twice",
    "imu: freeze when depth 10": "QUANTITY > NUMBER",
    "imu: freeze when death > 10": "depth|altitude",
    "imu: freeze random 2": "onsets per hour such as 2/h",
    "imu: freeze for 10s": "`duration` needs a `start` or a `when`",
    "imu: freeze @ 3 when depth > 2": "give one of `start`, `random` and `when`",
    "imu: freeze now": "`now` is out of place",
    "imu: bias @ 3": "missing key `value`",
    "imu: bias valeu=3": "did you mean `value`?",
    "imu: dropout probability=2": "at most 1",
    "rudder: added_drag drag_area=1": "`hull`",
}


@pytest.mark.parametrize("text", REFUSED)
def test_a_slip_is_answered_with_what_was_meant(text):
    with pytest.raises(SpecError) as caught:
        parse_fault(text)
    assert REFUSED[text] in str(caught.value)


def test_numbers_that_are_not_finite_are_refused():
    for text in ("inf", "nan", "1e999"):
        with pytest.raises(SpecError):
            parse_fault(f"imu: bias value={text}")
    assert math.isfinite(parse_fault("imu: bias value=1e99")[1].value)
