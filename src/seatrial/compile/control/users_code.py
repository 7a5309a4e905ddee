"""Code of the user's own: loading a class that a scenario names."""

import importlib
import inspect
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from seatrial.engine.exchange.controllers import text_of
from seatrial.errors import SpecError
from seatrial.spec.scenario import Scenario
from seatrial.spec.wording import did_you_mean


def load_class(scenario: Scenario, index: int, allowed: bool) -> type[Any]:
    """The class that the scenario's vehicle `index` names as its controller.

    Its module is searched beside the scenario's file, then where Python always searches. Neither
    the search path nor a module of the same name that is in use already is changed.
    """
    reference = scenario.vehicles[index].controller
    assert reference is not None

    def refusal(message: str, **details: str) -> SpecError:
        return scenario.error(
            ("vehicles", index, "controller"), message, value=reference, **details
        )

    if not allowed:
        raise refusal(
            "the scenario names code of its own, which runs only with your permission",
            expected="`--allow-code` on the command line, or `allow_code=True` in Python",
            mend="scenarios are shared between people, and their code can do to your computer "
            "whatever you can: read it, then allow it",
        )
    module_name, _, class_name = reference.partition(":")
    folder = None if scenario._source is None else Path(scenario._source.file).resolve().parent
    try:
        module = _load_module(module_name, folder)
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and error.name in _parents(module_name):
            beside = "" if folder is None else f"`{error.name}.py` in {folder}, or "
            raise refusal(
                f"there is no module `{error.name}`", expected=f"{beside}an installed module"
            ) from None
        raise refusal(
            f"the module `{module_name}` cannot be loaded: {_placed(error, folder)}",
            mend="mend it there; it must load without arguments and without a simulation",
        ) from error
    found = getattr(module, class_name, None)
    if not inspect.isclass(found):
        classes = [n for n, v in vars(module).items() if inspect.isclass(v)]
        raise refusal(
            f"there is no class `{class_name}` in {module.__file__ or module_name}",
            mend=did_you_mean(class_name, classes),
        )
    return found


def _parents(module: str) -> list[str]:
    """`a.b.c` and the packages that it lies in."""
    parts = module.split(".")
    return [".".join(parts[: n + 1]) for n in range(len(parts))]


def _load_module(name: str, folder: Path | None) -> ModuleType:
    if folder is None:
        return importlib.import_module(name)
    with _searched_first(folder):
        return importlib.import_module(name)


@contextmanager
def _searched_first(folder: Path) -> Iterator[None]:
    """Search a folder before all others, and forget afterwards the modules that came from there.

    Two scenarios may each have a `controller.py`, and one may have the name of a module that
    somebody else is using; within this context the folder's own are found.
    """
    files = [file.stem for file in folder.glob("*.py")]
    packages = [file.parent.name for file in folder.glob("*/__init__.py")]
    beside = {*files, *packages} - {"__main__"}

    def modules(of_the_folder: bool) -> list[str]:
        """Modules in use whose names are found in the folder: its own, or those of others."""
        found = [name for name in sys.modules if name.partition(".")[0] in beside]
        origin = {name: getattr(sys.modules[name], "__file__", None) or "" for name in found}
        return [n for n in found if Path(origin[n]).is_relative_to(folder) == of_the_folder]

    kept = set(modules(of_the_folder=True))
    aside = {name: sys.modules.pop(name) for name in modules(of_the_folder=False)}
    path = list(sys.path)
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path[:] = path
        for name in set(modules(of_the_folder=True)) - kept:
            del sys.modules[name]
        sys.modules.update(aside)


def _placed(error: BaseException, folder: Path | None) -> str:
    """An exception while a module was loaded, as `file:line: what`."""
    what = text_of(error)
    if isinstance(error, SyntaxError):
        return f"{error.filename}:{error.lineno}: {what}"
    entries = traceback.extract_tb(error.__traceback__)
    inside = [e for e in entries if folder and Path(e.filename).is_relative_to(folder)]
    place = [*entries, *inside][-1]
    return f"{place.filename}:{place.lineno}: {what}"
