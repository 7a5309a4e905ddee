"""Every snippet of every page under `docs/` does what the page says that it does.

The blocks of a page are taken in order, in one empty folder, Python in one namespace:

- ```` ```python ```` is executed, ```` ```bash ```` line by line: commands of `seatrial` in this
  process, and only those. What `seatrial` prints may be sent to a file.
- ```` ```yaml ```` is loaded; a document is also written to NAME.yaml for the blocks after it.
- ```` ```text ```` and blocks without a name are pictures or what a program printed.

A comment above a block says more: `<!-- part of a vehicle -->` for YAML that is not a whole
document, `<!-- file: NAME -->` for a block that is also saved, and `<!-- not run: REASON -->` for
one that would take too long, which is then only read: Python is compiled, arguments are parsed.
"""

import contextlib
import io
import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from seatrial.cli import main
from seatrial.spec.fault_grammar import parse_fault
from seatrial.spec.library import library_file
from seatrial.spec.loading import load_text
from seatrial.spec.reading import read_file, read_text

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if path.parent.name != "reference")
"""The reference is written by a program and has tests of its own."""

BLOCK = re.compile(r"(?:^<!-- (.*?) -->\n)?^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LANGUAGES = {"python", "bash", "yaml", "text", "mermaid", ""}


@dataclass(frozen=True)
class Block:
    page: Path
    line: int
    note: str
    language: str
    text: str

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(DOCS.parent)}:{self.line}"

    @property
    def run(self) -> bool:
        return not self.note.startswith("not run:")


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(page, 1 + text.count("\n", 0, found.start(3)), found[1] or "", found[2], found[3])
        for found in BLOCK.finditer(text)
    ]


def commands_of(block: Block) -> list[str]:
    lines = block.text.replace("\\\n", " ").splitlines()
    found = [line.partition(" #")[0].strip() for line in lines]
    return [line for line in found if line and not line.startswith("#")]


def call(words: list[str]) -> tuple[int, str, str]:
    """Run a command of `seatrial` in this process: exit code, stdout, stderr."""
    out, err = io.StringIO(), io.StringIO()
    before, sys.argv = sys.argv, words
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
        code = 0
    except SystemExit as ended:
        code = int(ended.code or 0)
    finally:
        sys.argv = before
    return code, out.getvalue(), err.getvalue()


def run_command(block: Block, line: str) -> None:
    words = shlex.split(line)
    assert words[0] == "seatrial", f"{block.place}: tests run commands of seatrial only: {line}"
    target = None
    if ">" in words:
        at = words.index(">")
        words, target = words[:at], words[at + 1]
    code, out, err = call(words)
    assert code == 0, f"{block.place}: {line}\n{out}\n{err}"
    if target is not None:
        Path(target).write_text(out, encoding="utf-8")


def parse_command(block: Block, line: str) -> None:
    """Parse the arguments of a command without running it."""
    import typer

    from seatrial.cli.commands import app

    _, *words = shlex.split(line)
    command: Any = typer.main.get_command(app)
    context = None
    while hasattr(command, "commands"):
        if words[0] not in command.commands and hasattr(command, "default"):
            words = [command.default, *words]
        assert words[0] in command.commands, f"{block.place}: no command `{words[0]}`"
        context = command.make_context(
            "seatrial", words[:1], parent=context, resilient_parsing=True
        )
        command, words = command.commands[words[0]], words[1:]
    parsed = command.make_context("seatrial", words, parent=context)
    for text in parsed.params.get("fault") or ():
        parse_fault(text)


def load_block(block: Block) -> None:
    if not block.note:
        loaded = load_text(block.text, file=block.place)
        Path(f"{loaded.name}.yaml").write_text(block.text, encoding="utf-8")
        return
    part, _ = read_text(block.text, block.place)
    wholes = {
        "part of a vehicle": lambda: read_file(library_file("otter", "vehicle"))[0],
        "part of a scenario": lambda: {"kind": "scenario", "name": "part", "duration": 1.0},
    }
    assert block.note in wholes, f"{block.place}: `{block.note}` is not one of {list(wholes)}"
    stream = io.StringIO()
    YAML(typ="safe", pure=True).dump(wholes[block.note]() | part, stream)
    load_text(stream.getvalue(), file=block.place)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_every_block_is_of_a_known_kind(page: Path):
    blocks = blocks_of(page)
    assert page.read_text(encoding="utf-8").count("\n```") == 2 * len(blocks), (
        "a fence is not closed"
    )
    for block in blocks:
        assert block.language in LANGUAGES, f"{block.place}: what is `{block.language}`?"
        if block.language == "":
            commands = re.findall(r"^\s*(?:\$ )?seatrial \w", block.text, re.MULTILINE)
            assert not commands, f"{block.place}: commands belong into a block of `bash`"


@pytest.mark.parametrize(
    "page",
    [
        page
        for page in PAGES
        if any(block.language in ("python", "bash", "yaml") for block in blocks_of(page))
        and page.name != "first-hour.md"  # a newcomer follows it in tests/test_newcomer.py
    ],
    ids=lambda page: page.relative_to(DOCS).as_posix(),
)
def test_every_snippet_of_the_page_works(page: Path, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.syspath_prepend(tmp_path)
    names: dict[str, Any] = {"__name__": "docs"}
    for block in blocks_of(page):
        if block.note.startswith("file: "):
            Path(block.note.removeprefix("file: ")).write_text(block.text, encoding="utf-8")
        if block.language == "yaml":
            load_block(block)
        elif block.language == "python":
            # Empty lines put a traceback on the line of the page.
            code = compile("\n" * (block.line - 1) + block.text, str(page), "exec")
            if block.run:
                exec(code, names)
        elif block.language == "bash":
            for line in commands_of(block):
                (run_command if block.run else parse_command)(block, line)


def commands_of_seatrial() -> dict[str, set[str]]:
    """By the words that call it, the options of every command."""
    import typer

    from seatrial.cli.commands import app

    found: dict[str, set[str]] = {}

    def visit(command: Any, words: tuple[str, ...]) -> None:
        found[" ".join(words)] = {name for one in command.params for name in one.opts}
        for name, inner in getattr(command, "commands", {}).items():
            visit(inner, (*words, name))

    visit(typer.main.get_command(app), ())
    return found


@pytest.mark.parametrize("page", [*PAGES, DOCS.parent / "README.md"], ids=lambda page: page.stem)
def test_commands_within_a_sentence_and_their_options_exist(page: Path):
    known = commands_of_seatrial()
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for said in re.findall(r"`seatrial\s+([^`]*)`", text):
        words = said.split()
        depth = 0
        while depth < len(words) and " ".join(words[: depth + 1]).partition("\\|")[0] in known:
            depth += 1
        command = " ".join(words[:depth]).partition("\\|")[0]
        assert depth or words[0].startswith("-"), f"{page.name}: no command `seatrial {said}`"
        options = set(re.findall(r"(?<!\w)--[a-z][a-z0-9-]*", said)) - {"--help"}
        assert options <= known[command], f"{page.name}: no such option: `seatrial {said}`"


def test_the_table_of_commands_is_complete():
    page = (DOCS / "scenarios.md").read_text(encoding="utf-8")
    table = page.partition("## Command line")[2].partition("\n## ")[0]
    listed = set(re.findall(r"`seatrial ([\w-]+)", table))
    assert listed == {name.partition(" ")[0] for name in commands_of_seatrial() if name}


def test_a_page_whose_snippet_fails_fails(tmp_path: Path):
    page = DOCS / "made-up.md"
    with pytest.raises(AssertionError, match=r"made-up.md:1: seatrial show nothing"):
        run_command(Block(page, 1, "", "bash", ""), "seatrial show nothing")
    with pytest.raises(AssertionError, match="no command `sail`"):
        parse_command(Block(page, 1, "not run: no", "bash", ""), "seatrial sail otter")
    with pytest.raises(Exception, match=r"--nonsense"):
        parse_command(Block(page, 1, "not run: no", "bash", ""), "seatrial tune otter --nonsense 1")
