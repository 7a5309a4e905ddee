"""What MkDocs does not do by itself: equations, and files outside of `docs/`.

- `$…$` and `$$…$$` become MathML, which every browser draws by itself.
- A link of a page to a file outside of `docs/` (an example, the changelog) brings that file along:
  a program as a page with its source, Markdown as a page, anything else as it is.
- A page that would load something from a network is warned of, which ends `make site`.
- The gallery and the executed notebooks, which `make site` left in `build/`, become pages.
"""

import re
from pathlib import Path, PurePosixPath
from typing import Any

from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import get_plugin_logger
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

log = get_plugin_logger("website")

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"

CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]+`", re.MULTILINE | re.DOTALL)
INLINE = r"(?<![\w$\\])\$([^\s$](?:[^$\n]*[^\s$])?)\$(?![\w$])"
EQUATION = re.compile(r"\$\$(.+?)\$\$|" + INLINE, re.DOTALL)
FUNCTION = re.compile(r"<mi>(cosh?|sinh?|tanh?|ln|exp)</mi>")
LOADED = re.compile(r'<(?:script|link|img|iframe)\b[^>]*(?:src|href)="((?:https?:)?//[^"]*)"')
LINK = re.compile(r"\]\(((?:\.\./)+[^)#\s]+)")

GENERATED = {"gallery": BUILD / "gallery", "notebooks": BUILD / "notebooks"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what is linked from outside of `docs/`, and what was made by programs."""
    docs = Path(config.docs_dir)
    linked = {ROOT / "CHANGELOG.md", *(ROOT / "examples").glob("*.py")}
    for page in docs.rglob("*.md"):
        for target in LINK.findall(page.read_text(encoding="utf-8")):
            path = (page.parent / target).resolve()
            if not path.is_relative_to(docs) and path.is_file():
                linked.add(path)
    for path in sorted(linked):
        files.append(_added(path, _place(path), config))
    files.append(File.generated(config, "examples/programs.md", content=_examples()))
    for folder, made in GENERATED.items():
        for path in sorted(made.rglob("*")):
            if path.suffix in (".md", ".png", ".svg"):
                uri = f"{folder}/{path.relative_to(made).as_posix()}"
                files.append(File.generated(config, uri, abs_src_path=str(path)))
    return files


def _place(path: Path) -> str:
    """Where a file from outside of `docs/` stands on the site."""
    uri = path.relative_to(ROOT).as_posix()
    return f"{uri.removesuffix('.py')}.md" if path.suffix == ".py" else uri


def _added(path: Path, uri: str, config: MkDocsConfig) -> File:
    if path.suffix != ".py":
        return File.generated(config, uri, abs_src_path=str(path))
    source = path.read_text(encoding="utf-8")
    return File.generated(config, uri, content=f"# {path.name}\n\n```python\n{source}```\n")


def _examples() -> str:
    rows = []
    for path in sorted((ROOT / "examples").glob("*.py")):
        claim = path.read_text(encoding="utf-8").lstrip('"').partition("\n")[0].rstrip('"')
        rows.append(f"| [{path.name}]({path.stem}.md) | {claim} |")
    return "# Examples\n\nSmall complete programs.\n\n| program | |\n|---|---|\n" + "\n".join(rows)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Take the equations out before Markdown reads their underscores; mend links to outside."""
    equations: list[str] = []

    def stash(found: re.Match[str]) -> str:
        display = "block" if found[1] else "inline"
        drawn = convert((found[1] or found[2]).strip(), display=display)
        if "\\" in drawn:  # a command that the converter does not know is left as it stands
            log.warning("%s: cannot draw the equation %s", page.file.src_uri, found[0])
        # The converter leaves no space around the names of functions: a cos θ.
        spaced = r'<mo form="prefix" lspace="0.17em" rspace="0.17em">\1</mo>'
        equations.append(FUNCTION.sub(spaced, drawn))
        return f"equation{len(equations) - 1}taken"

    def outside(found: re.Match[str]) -> str:
        here = PurePosixPath(page.file.src_uri).parent
        path = (Path(config.docs_dir) / here / found[1]).resolve()
        if path.is_relative_to(config.docs_dir):
            return found[0]
        up = "../" * len(here.parts)
        return f"]({up}{'examples/programs.md' if path.is_dir() else _place(path)}"

    if page.file.src_uri in ("CONTRIBUTING.md", "CHANGELOG.md"):
        markdown = markdown.replace("](docs/", "](")
    else:
        markdown = LINK.sub(outside, markdown).replace(".ipynb)", ".md)")
    page.meta["equations"] = equations
    parts, at = [], 0
    for code in CODE.finditer(markdown):
        # In a table GitHub wants a bar in code escaped; here it would show the backslash.
        shown = code[0] if code[1] else code[0].replace("\\|", "|")
        parts += [EQUATION.sub(stash, markdown[at : code.start()]), shown]
        at = code.end()
    return "".join([*parts, EQUATION.sub(stash, markdown[at:])])


def on_page_content(html: str, page: Page, **_: Any) -> str:
    """Put the equations back."""
    equations = page.meta["equations"]
    return re.sub(r"equation(\d+)taken", lambda found: equations[int(found[1])], html)


def on_post_page(output: str, page: Page, **_: Any) -> None:
    """Pages are to be read without a network."""
    for url in LOADED.findall(output):
        log.warning("%s: loads %s", page.file.src_uri, url)
