"""Makes the site of the documentation: a hook of MkDocs (`make site`).

Pages link each other as the repository has them, inside `docs/` and out of it. So everything that
a page leads to is laid out anew as it stands there, and strict mode checks every link. Diagrams are
drawn when the site is made: a reader's browser fetches nothing from anywhere else.
"""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import mermaidx
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError

ROOT: Final = Path(__file__).parents[1]
LAID_OUT: Final = ROOT / "build" / "pages"
ORDER: Final = (
    *("start", "review", "interview", "how-it-works", "how-sure", "evaluation", "validation"),
    *("http", "operations", "privacy", "backup", "configuration"),
)
"""The pages of `docs/` as they are read; others follow."""

_LINK: Final = re.compile(r"\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
_DIAGRAM: Final = re.compile(r"^```mermaid\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FROM_ELSEWHERE: Final = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*\bsrc="?(?:https?:)?//[^>]*"""
    r"""|<link\b[^>]*\bhref="?(?:https?:)?//[^>]*""",
)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Lay out the pages, and list them in the order in which they are read."""
    shutil.rmtree(LAID_OUT, ignore_errors=True)
    to_do = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
    done: set[Path] = set()
    while to_do:
        path = to_do.pop()
        if path not in done:
            done.add(path)
            to_do += _lay_out(path)
    config.docs_dir = str(LAID_OUT)
    config.nav = list(_navigation({path.relative_to(ROOT).as_posix() for path in done}))
    return config


def on_post_page(output: str, **_: object) -> str:
    """Refuse a page that lets a browser fetch something from another host."""
    found = _FROM_ELSEWHERE.search(output)
    if found is not None:
        msg = f"a page fetches from another host: {found[0]}"
        raise PluginError(msg)
    return output


def _lay_out(path: Path) -> list[Path]:
    """Copy a file to its place and return the files that it leads to."""
    copy = LAID_OUT / path.relative_to(ROOT)
    copy.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix != ".md":
        shutil.copyfile(path, copy)
        return []
    text = path.read_text("utf-8")
    targets = {(path.parent / found[2]).resolve() for found in _LINK.finditer(text)}
    # A site has no listings of folders.
    text = _LINK.sub(lambda link: link[1] if (path.parent / link[2]).is_dir() else link[0], text)
    copy.write_text(_drawn(text, copy), "utf-8")
    return sorted(target for target in targets if target.is_file() and ROOT in target.parents)


def _drawn(text: str, page: Path) -> str:
    """Return a page with a picture in the place of each diagram."""
    for number, found in enumerate(_DIAGRAM.finditer(text), start=1):
        picture = page.with_name(f"{page.stem}-{number}.svg")
        picture.write_text(mermaidx.render(found[1]).svg(), "utf-8")
        text = text.replace(found[0], f"![Diagram {number} of this page]({picture.name})")
    return text


def _navigation(pages: set[str]) -> Iterator[str | dict[str, list[str]]]:
    ordered = ["README.md", *(f"docs/{page}.md" for page in ORDER)]
    yield from (name for name in ordered if name in pages)
    others = sorted(name for name in pages.difference(ordered) if name.endswith(".md"))
    yield from (name for name in others if name.startswith("docs/"))
    yield {"Project": [name for name in others if not name.startswith("docs/")]}
