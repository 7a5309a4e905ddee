"""Writes the messages for the page: `python -m seatrial.viewer.typescript web/src/messages.ts`."""

import sys
import types
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from seatrial.viewer import messages

_PLAIN = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null"}

_SIZES = {"f8": 8, "u4": 4, "f4": 4}


def typescript() -> str:
    """The text of the file."""
    models = [
        model
        for model in vars(messages).values()
        if isinstance(model, type)
        and issubclass(model, messages.Message)
        and model is not messages.Message
    ]
    requests = get_args(get_args(messages.Request)[0])
    parts = [
        "// Written by `python -m seatrial.viewer.typescript`; change messages.py instead.\n",
        f"export const SLOWEST = {messages.SLOWEST:g};\nexport const FASTEST = "
        f"{messages.FASTEST:g};\n",
        _state_head(),
        *(_interface(model, model in requests) for model in models),
    ]
    parts.append(
        "export type Request =\n  | " + "\n  | ".join(m.__name__ for m in requests) + ";\n"
    )
    return "\n".join(parts)


def _state_head() -> str:
    """Where each number of a state's head lies, in bytes."""
    at, lines = 0, []
    for name, kind in messages.STATE_HEAD.items():
        lines.append(f"  {name}: {at},")
        at += _SIZES[kind]
    flags = [f"  {name}: {bit}," for name, bit in messages.FLAGS.items()]
    return "\n".join(
        [
            *("export const HEAD = {", *lines, "} as const;", f"export const HEAD_BYTES = {at};"),
            *("export const FLAGS = {", *flags, "} as const;", ""),
        ]
    )


def _interface(model: type[messages.Message], request: bool) -> str:
    """A model; what a request may leave out is optional."""
    told = " ".join((model.__doc__ or "").split())
    lines = [f"/** {told} */", f"export interface {model.__name__} {{"]
    for name, field in model.model_fields.items():
        mark = "?" if request and not field.is_required() else ""
        lines.append(f"  {name}{mark}: {_type(field.annotation)};")
    return "\n".join([*lines, "}", ""])


def _type(annotation: Any) -> str:
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    origin, of = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _type(of[0])
    if origin is Literal:
        return " | ".join(f'"{value}"' for value in of)
    if origin is list:
        item = _type(of[0])
        return f"({item})[]" if " | " in item else f"{item}[]"
    if origin is tuple:
        return f"[{', '.join(_type(one) for one in of)}]"
    if origin is dict:
        return f"Record<string, {_type(of[1])}>"
    if origin in (Union, types.UnionType):
        return " | ".join(_type(one) for one in of)
    return str(annotation.__name__)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(typescript(), encoding="utf-8")
