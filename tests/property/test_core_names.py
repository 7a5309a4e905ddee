"""The grammar of coefficient names."""

import re

from hypothesis import given
from hypothesis import strategies as st

from seatrial.compile.vehicles.coefficients import (
    FORCES,
    VELOCITIES,
    Factors,
    parse,
    readings,
    reads_as_velocities,
)

SYMBOLS = {"delta": 0, "stern_plane": 1, "screw": 2, "stern_plane_angle": 3}

velocity = st.tuples(st.just("velocity"), st.sampled_from(VELOCITIES))
absolute = st.tuples(st.just("absolute"), st.sampled_from(VELOCITIES))
actuator = st.tuples(st.just("actuator"), st.sampled_from(sorted(SYMBOLS)))


@given(
    st.sampled_from(FORCES),
    st.lists(st.one_of(velocity, absolute, actuator), min_size=1, max_size=5),
    st.lists(st.booleans(), min_size=4, max_size=4),
)
def test_generated_names_parse_to_their_factors(force, factors, glued):
    # Velocities and absolute values may be glued together; actuators stand between underscores.
    parts = []
    for i, (kind, what) in enumerate(factors):
        text = f"a{what}" if kind == "absolute" else what
        before = factors[i - 1][0] if i else "actuator"
        together = i > 0 and glued[i - 1] and kind != "actuator" and before != "actuator"
        parts.append(text if together else f"_{text}")
    name = force + "".join(parts)
    assert parse(name, SYMBOLS) == Factors(
        FORCES.index(force),
        tuple(VELOCITIES.index(w) for k, w in factors if k == "velocity"),
        tuple(VELOCITIES.index(w) for k, w in factors if k == "absolute"),
        tuple(SYMBOLS[w] for k, w in factors if k == "actuator"),
    )


@given(st.sampled_from(FORCES), st.sampled_from(VELOCITIES))
def test_a_velocity_with_d_is_an_added_mass(force, letter):
    found = parse(f"{force}_{letter}d", SYMBOLS)
    assert found == Factors(FORCES.index(force), acceleration=VELOCITIES.index(letter))


@given(st.sampled_from(FORCES))
def test_zero_names_a_constant(force):
    assert parse(f"{force}_0", SYMBOLS) == Factors(FORCES.index(force))
    assert parse(f"{force}_0u", SYMBOLS) == Factors(FORCES.index(force), velocities=(0,))


@given(st.text(alphabet="XYZKMNuvwpqrad0_xtesn", max_size=12))
def test_a_name_outside_the_grammar_is_refused(name):
    symbols = "|".join(sorted(SYMBOLS, key=len, reverse=True))
    token = rf"(?:{symbols}|0?(?:a?[uvwpqr])+|0)"
    grammar = rf"[XYZKMN]_(?:[uvwpqr]d|{token}(?:_{token})*)"
    assert (parse(name, SYMBOLS) is None) == (re.fullmatch(grammar, name) is None)


@given(st.lists(st.sampled_from([*VELOCITIES, *(f"a{v}" for v in VELOCITIES)]), min_size=1))
def test_whatever_reads_as_a_product_of_velocities_is_no_name_for_an_actuator(factors):
    for name in ("".join(factors), "_".join(factors)):
        assert reads_as_velocities(name)
        assert not reads_as_velocities(f"thruster_{name}")


@given(st.from_regex(r"[a-z][a-z0-9_]{0,6}", fullmatch=True))
def test_an_allowed_name_leaves_every_coefficient_of_the_velocities_its_meaning(name):
    plain = [f"{f}_{v}" for f in FORCES for v in VELOCITIES]
    plain += [f"{f}_{v}d" for f in FORCES for v in VELOCITIES]
    plain += [f"{f}_{v}_a{w}" for f in FORCES for v in VELOCITIES for w in VELOCITIES]
    taken = any(readings(key, {name: 0}) != readings(key, {}) for key in plain)
    assert not taken or reads_as_velocities(name)
