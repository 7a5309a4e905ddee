"""The keys of all descriptions as a JSON Schema, by which an editor completes and checks.

Pydantic writes most of it. What a file may say beyond the classes is added: keys with a unit
(`heading_deg`), and names or paths in place of a description. What only Python can check (sums,
orders, names that must match) is left to `seatrial check`.
"""

import json
from typing import Any

from pydantic.json_schema import models_json_schema

from seatrial.conventions import UNIT_SUFFIXES
from seatrial.spec.base import Spec, document_fields, unit_of
from seatrial.spec.loading import DOCUMENTS

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_BOUNDS = {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "default"}
"""What holds in SI units only."""


def json_schema() -> dict[str, Any]:
    """The schema of any file that seatrial reads; its `kind` selects what it describes."""
    document_fields()
    _, whole = models_json_schema([(spec, "validation") for spec in DOCUMENTS.values()])
    definitions = whole["$defs"]
    for spec in _all_specs(Spec):
        if spec.__name__ in definitions:
            _add_words_and_units(spec, definitions[spec.__name__])
    names = {f"#/$defs/{spec.__name__}" for spec in DOCUMENTS.values()}
    definitions = {name: _with_references(one, names) for name, one in definitions.items()}
    return {
        "$schema": DIALECT,
        "title": "A vehicle, world, scenario or sensor of seatrial",
        "type": "object",
        "properties": {"kind": {"enum": list(DOCUMENTS)}},
        "required": ["kind"],
        "allOf": [
            {
                "if": {"properties": {"kind": {"const": kind}}},
                "then": {"$ref": f"#/$defs/{spec.__name__}"},
            }
            for kind, spec in DOCUMENTS.items()
        ],
        "$defs": definitions,
    }


def as_text() -> str:
    """The schema as it is written to a file."""
    return json.dumps(json_schema(), indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def _all_specs(spec: type[Spec]) -> set[type[Spec]]:
    return {spec}.union(*(_all_specs(derived) for derived in spec.__subclasses__()))


def _add_words_and_units(spec: type[Spec], definition: dict[str, Any]) -> None:
    """Describe the keys of a class, and add those that name a unit."""
    definition.pop("title", None)
    definition["description"] = " ".join((spec.__doc__ or "").partition(">>>")[0].split())
    properties = definition["properties"]
    for name, field in spec.model_fields.items():
        one = properties[name]
        one.pop("title", None)
        if isinstance(one.get("default"), dict):
            del one["default"]  # another description, at its own place
        unit = unit_of(field)
        text = " ".join((field.description or "").split())
        one["description"] = f"{text} [{unit}]" if unit and unit != "1" else text
        suffixes = UNIT_SUFFIXES.get(unit, {})
        for suffix in suffixes:
            plain = {key: value for key, value in one.items() if key not in _BOUNDS}
            told = f"{text} [{suffix}]"
            properties[f"{name}_{suffix}"] = _without_bounds(plain) | {"description": told}
        if suffixes and name in definition.get("required", ()):
            definition["required"].remove(name)
            keys = [name, *(f"{name}_{suffix}" for suffix in suffixes)]
            definition.setdefault("allOf", []).append({"anyOf": [{"required": [k]} for k in keys]})


def _without_bounds(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _without_bounds(v) for key, v in node.items() if key not in _BOUNDS}
    return [_without_bounds(v) for v in node] if isinstance(node, list) else node


def _with_references(node: Any, documents: set[str]) -> Any:
    """Allow the name of a file, or of one in the library, wherever a document may stand."""
    if isinstance(node, list):
        return [_with_references(part, documents) for part in node]
    if not isinstance(node, dict):
        return node
    if node.get("$ref") in documents:
        rest = {key: value for key, value in node.items() if key != "$ref"}
        return {"anyOf": [{"type": "string"}, {"$ref": node["$ref"]}], **rest}
    return {key: _with_references(value, documents) for key, value in node.items()}
