"""Make bad descriptions out of good ones.

Every mutation here is certain to make the document invalid, whatever document it is applied to;
one that does not apply to a document returns None.
"""

import io
import itertools
import random
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Literal

from annotated_types import Gt
from ruamel.yaml import YAML

from samples import good_documents
from seatrial.conventions import UNIT_SUFFIXES
from seatrial.spec.base import Spec, unit_of
from seatrial.spec.loading import load_text
from seatrial.spec.reading import MAX_BYTES, read_text
from seatrial.spec.wording import Declared, declared


@dataclass(frozen=True)
class Spot:
    """A key of a description that the schema knows."""

    path: tuple[str | int, ...]
    owner: type[Spec]
    name: str

    @property
    def key(self) -> str:
        return str(self.path[-1])

    @property
    def types(self) -> list[Declared]:
        return declared(self.owner.model_fields[self.name])

    @property
    def is_number(self) -> bool:
        return [t.base for t in self.types] == [float]


@dataclass
class Document:
    """A good document, and where its keys are."""

    text: str
    data: dict[str, Any]
    spots: list[Spot]


Mutation = Callable[[random.Random, Document], bytes | None]


def malformed_documents(seed: int, count: int) -> Iterator[tuple[str, bytes]]:
    """Yield `count` file names with contents that must all be refused."""
    rng = random.Random(seed)
    documents = {name: _document(text) for name, text in good_documents().items()}
    mutations = itertools.cycle(MUTATIONS.items())
    for number, (sort, mutation) in enumerate(itertools.islice(mutations, count)):
        for name in rng.sample(sorted(documents), len(documents)):
            content = mutation(rng, documents[name])
            if content is not None:
                yield f"{number:03d}-{sort}-{name}.yaml", content
                break


def _document(text: str) -> Document:
    data, _ = read_text(text, "good.yaml")
    return Document(text, data, list(_spots(load_text(text), data, ())))


def _spots(spec: Any, data: Any, path: tuple[str | int, ...]) -> Iterator[Spot]:
    """Walk the file and what was made of it side by side."""
    if isinstance(spec, Spec) and isinstance(data, dict):
        for key, value in data.items():
            name = key if key in type(spec).model_fields else type(spec)._split_unit(key)[0]
            yield Spot((*path, key), type(spec), name)
            yield from _spots(getattr(spec, name), value, (*path, key))
    elif isinstance(spec, tuple) and isinstance(data, list):
        for i, (inner, value) in enumerate(zip(spec, data, strict=True)):
            yield from _spots(inner, value, (*path, i))


def _edit(document: Document, spot: Spot, change: Callable[[dict[str, Any], str], None]) -> bytes:
    data = deepcopy(document.data)
    holder: Any = data
    for part in spot.path[:-1]:
        holder = holder[part]
    change(holder, spot.key)
    return to_yaml(data)


def to_yaml(data: Any) -> bytes:
    stream = io.BytesIO()
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.dump(data, stream)
    return stream.getvalue()


def _replace(
    rng: random.Random, document: Document, value: Any, where: Callable[[Spot], bool]
) -> bytes | None:
    spots = [s for s in document.spots if where(s)]
    if not spots:
        return None
    return _edit(document, rng.choice(spots), lambda d, k: d.__setitem__(k, value))


def _rename(document: Document, spot: Spot, new: str) -> bytes:
    return _edit(document, spot, lambda d, k: d.__setitem__(new, d.pop(k)))


def _append(text: str) -> Mutation:
    return lambda rng, document: (document.text + text).encode()


# Keys


def misspelt_key(rng: random.Random, document: Document) -> bytes | None:
    spot = rng.choice(document.spots)
    return _rename(document, spot, f"{spot.key[:-1]}zq{spot.key[-1]}")


def unknown_key(rng: random.Random, document: Document) -> bytes | None:
    spot = rng.choice(document.spots)
    return _edit(document, spot, lambda d, k: d.__setitem__("colour_of_hull", "blue"))


def upper_case_key(rng: random.Random, document: Document) -> bytes | None:
    spot = rng.choice(document.spots)
    return _rename(document, spot, spot.key.upper())


def missing_key(rng: random.Random, document: Document) -> bytes | None:
    spots = [
        s
        for s in document.spots
        # The loader knows what an inline vehicle is without being told.
        if s.owner.model_fields[s.name].is_required() and (s.key != "kind" or len(s.path) == 1)
    ]
    return _edit(document, rng.choice(spots), lambda d, k: d.pop(k))


def key_given_in_two_units(rng: random.Random, document: Document) -> bytes | None:
    spots = [s for s in document.spots if s.key == s.name and s.is_number]
    spots = [s for s in spots if s.types[0].unit in UNIT_SUFFIXES]
    if not spots:
        return None
    spot = rng.choice(spots)
    suffix = next(iter(UNIT_SUFFIXES[spot.types[0].unit]))
    return _edit(document, spot, lambda d, k: d.__setitem__(f"{k}_{suffix}", d[k]))


def number_as_key(rng: random.Random, document: Document) -> bytes | None:
    spot = rng.choice(document.spots)
    return _edit(document, spot, lambda d, k: d.__setitem__(17, 1.0))


def list_as_key(rng: random.Random, document: Document) -> bytes | None:
    return (document.text + "? [a, b]\n: 1\n").encode()


# Types


def text_for_number(rng: random.Random, document: Document) -> bytes | None:
    return _replace(rng, document, "rather fast", lambda s: s.is_number)


def list_for_number(rng: random.Random, document: Document) -> bytes | None:
    return _replace(rng, document, [1.0], lambda s: s.is_number)


def mapping_for_number(rng: random.Random, document: Document) -> bytes | None:
    return _replace(rng, document, {"value": 1.0}, lambda s: s.is_number)


def true_for_number(rng: random.Random, document: Document) -> bytes | None:
    return _replace(rng, document, True, lambda s: s.is_number)


def date_for_number(rng: random.Random, document: Document) -> bytes | None:
    content = _replace(rng, document, "DATE", lambda s: s.is_number)
    return content and content.replace(b"DATE", b"2026-11-15")


def number_for_text(rng: random.Random, document: Document) -> bytes | None:
    return _replace(rng, document, 3.5, lambda s: [t.base for t in s.types] == [str])


def word_for_choice(rng: random.Random, document: Document) -> bytes | None:
    return _replace(rng, document, "purple", lambda s: [t.base for t in s.types] == [Literal])


def nothing_for_required(rng: random.Random, document: Document) -> bytes | None:
    return _replace(rng, document, None, lambda s: s.owner.model_fields[s.name].is_required())


# Units and ranges


def number_with_unit_as_text(rng: random.Random, document: Document) -> bytes | None:
    text = rng.choice(["5 kn", "90 deg", "3 m", "12 parsec", "7°", "1_000"])
    return _replace(rng, document, text, lambda s: s.is_number)


def key_with_wrong_unit(rng: random.Random, document: Document) -> bytes | None:
    spots = [s for s in document.spots if s.is_number and s.key == s.name]
    if not spots:
        return None
    spot = rng.choice(spots)
    unit = unit_of(spot.owner.model_fields[spot.name])
    wrong = [s for si, table in UNIT_SUFFIXES.items() if si != unit for s in table]
    return _rename(document, spot, f"{spot.key}_{rng.choice(wrong)}")


def not_finite(rng: random.Random, document: Document) -> bytes | None:
    return _replace(rng, document, rng.choice([float("nan"), float("-inf")]), lambda s: s.is_number)


def too_large_number(rng: random.Random, document: Document) -> bytes | None:
    content = _replace(rng, document, "HUGE", lambda s: s.is_number)
    return content and content.replace(b"HUGE", rng.choice([b"1e999", b"9" * 5000]))


def negative_size(rng: random.Random, document: Document) -> bytes | None:
    return _replace(
        rng,
        document,
        -1.0,
        lambda s: s.is_number and any(m == Gt(0) for m in s.types[0].metadata),
    )


# Structure


def short_vector(rng: random.Random, document: Document) -> bytes | None:
    return _replace(rng, document, [1.0], _is_fixed_list)


def long_vector(rng: random.Random, document: Document) -> bytes | None:
    return _replace(rng, document, [-1.0, 2.0, 3.0, 4.0, 5.0], _is_fixed_list)


def _is_fixed_list(spot: Spot) -> bool:
    (first, *others) = spot.types
    return not others and first.base is tuple and Ellipsis not in first.type.__args__


def number_for_mapping(rng: random.Random, document: Document) -> bytes | None:
    return _replace(rng, document, 7, lambda s: all(t.is_spec for t in s.types))


def list_for_mapping(rng: random.Random, document: Document) -> bytes | None:
    return _replace(rng, document, [{}], lambda s: all(t.is_spec for t in s.types))


def unknown_reference(rng: random.Random, document: Document) -> bytes | None:
    name = rng.choice(["submarine-from-mars", "no/such/file.yaml", "", "..", "a\tb.yaml"])
    return _replace(rng, document, name, lambda s: s.name in ("vehicle", "world"))


def unknown_kind(rng: random.Random, document: Document) -> bytes | None:
    return to_yaml(document.data | {"kind": rng.choice(["vessel", "", 3, None, ["vehicle"]])})


def other_kind(rng: random.Random, document: Document) -> bytes | None:
    others = {"vehicle", "world", "scenario"} - {document.data["kind"]}
    return to_yaml(document.data | {"kind": rng.choice(sorted(others))})


def top_is_list(rng: random.Random, document: Document) -> bytes | None:
    return to_yaml([document.data])


def top_is_text(rng: random.Random, document: Document) -> bytes | None:
    return b"just some words\n"


unclosed_list = _append("extra: [1, 2\n")
unclosed_quote = _append('extra: "open\n')
tab_as_indentation = _append("extra:\n\t- 1\n")
wrong_indentation = _append("   extra: 1\n")
two_colons = _append("extra: a: b\n")
duplicate_key = _append("kind: vehicle\n")
second_document = _append("---\nkind: world\nname: other\n")
stray_text = _append("stray\n")
unknown_alias = _append("extra: *nowhere\n")
recursive_alias = _append("extra: &a [*a]\n")
merge_key = _append("base: &b {x: 1}\nextra:\n  <<: *b\n")
python_tag = _append("extra: !!python/object/apply:os.system [date]\n")
custom_tag = _append("extra: !hull {}\n")
deep_nesting = _append("extra: " + "[" * 20_000 + "\n")
deep_mappings = _append("extra: " + "{a: " * 500 + "1" + "}" * 500 + "\n")
alias_bomb = _append(
    "a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
    + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))
)
control_character = _append("# \x07\n")
lone_surrogate = _append('extra: "\\ud800"\n')


# Encoding and size


def latin_1(rng: random.Random, document: Document) -> bytes | None:
    return document.text.encode() + "# café\n".encode("latin-1")


def utf_16(rng: random.Random, document: Document) -> bytes | None:
    return document.text.encode("utf-16")


def cut_character(rng: random.Random, document: Document) -> bytes | None:
    return document.text.encode() + "# é".encode()[:-1]


def zero_byte(rng: random.Random, document: Document) -> bytes | None:
    content = document.text.encode()
    at = rng.randrange(len(content))
    return content[:at] + b"\0" + content[at:]


def binary(rng: random.Random, document: Document) -> bytes | None:
    return b"\x89PNG\r\n\x1a\n" + rng.randbytes(2000)


def empty(rng: random.Random, document: Document) -> bytes | None:
    return rng.choice(
        [b"", b"\n\n", b"# nothing\n", b"---\n", b"\xef\xbb\xbf", b"null\n", b"...\n"]
    )


def too_large_file(rng: random.Random, document: Document) -> bytes | None:
    return document.text.encode() + b"# padding\n" * (MAX_BYTES // 10 + 1)


NOT_MUTATIONS = (malformed_documents, to_yaml)
MUTATIONS: dict[str, Mutation] = {
    name: value
    for name, value in list(globals().items())
    if callable(value) and not isinstance(value, type) and not name.startswith("_")
    if getattr(value, "__module__", "") == __name__ and value not in NOT_MUTATIONS
}
