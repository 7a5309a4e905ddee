"""Examples in docstrings are code on the site too, without a heading above them."""

import re
from typing import Any

from griffe import Extension, Object

EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)


class Doctests(Extension):
    """Put a fence around every run of lines that begins with `>>>`."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Before the docstring is parsed."""
        if obj.docstring is not None:
            obj.docstring.value = EXAMPLE.sub(r"```pycon\n\g<0>\n```", obj.docstring.value)
