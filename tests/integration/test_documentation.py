"""The documentation names what is there, and what it shows works as it stands."""

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from ai_psychiatrist.cli.app import app
from tests.fakes.documented_model import MODELS, documented_model
from tests.fakes.model_server import ModelServerThread
from tests.integration.command import commands_in
from tests.integration.page_shell import BlockFailed, PageShell
from tests.integration.pages import PAGES, ROOT, RUN, Block, blocks

LINKING = sorted({*ROOT.glob("*.md"), ROOT / "tests" / "README.md", *PAGES})
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_COMMAND = re.compile(r"^(?:\w+=\S+ )*ai-psychiatrist (.+)$", re.DOTALL)
_TEST = re.compile(r"`(tests/\S+\.py)::(\w+)`")
_NEXT_COMMAND = re.compile(r"[|<>;&].*", re.DOTALL)


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def anchors(page: Path) -> set[str]:
    """Return the anchors of headings as they are made of their words."""
    headings = _HEADING.findall(page.read_text("utf-8"))
    plain = (re.sub(r"[^\w\- ]", "", heading.casefold()) for heading in headings)
    return {heading.replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", LINKING, ids=name_of)
def test_links_lead_to_files_and_headings(page: Path) -> None:
    broken = []
    for link in _LINK.findall(page.read_text("utf-8")):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_every_test_that_a_page_names_is_there() -> None:
    named = [found for page in LINKING for found in _TEST.findall(page.read_text("utf-8"))]
    assert named
    missing = [
        f"{path}::{name}"
        for path, name in named
        if not (ROOT / path).is_file() or f"def {name}(" not in (ROOT / path).read_text("utf-8")
    ]
    assert missing == []


@pytest.fixture(scope="module")
def model_url() -> Iterator[str]:
    with ModelServerThread(documented_model(), models=MODELS) as server:
        yield server.url


@pytest.fixture
def shell(model_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PageShell]:
    """Runs blocks where the examples are."""
    folder = tmp_path / "page"
    shutil.copytree(ROOT / "examples", folder / "examples")
    monkeypatch.chdir(folder)
    with PageShell(folder, model_url) as shell:
        for name, value in shell.environment.items():
            monkeypatch.setenv(name, value)
        yield shell


def blocks_of(page: Path) -> list[Block]:
    return list(blocks(page.read_text("utf-8")))


def shown(page: Path) -> list[Block]:
    """Return the blocks of a page that can be run, whether they are or not."""
    return [block for block in blocks_of(page) if block.language in RUN]


@pytest.mark.parametrize("page", [page for page in PAGES if shown(page)], ids=name_of)
def test_page_works_as_it_stands(page: Path, shell: PageShell) -> None:
    if shutil.which("curl") is None and "$ curl" in page.read_text("utf-8"):
        pytest.skip("curl is not here, and the page shows it")
    for block in blocks_of(page):
        try:
            shell.run(block)
        except BaseException as error:
            error.add_note(f"in {name_of(page)}, line {block.line}")
            raise


NOT_RUN = {
    f"{name_of(page)}, line {block.line}, command {number}": command.text
    for page in PAGES
    for block in shown(page)
    if not block.is_run and block.language == "console"
    for number, command in enumerate(block.commands, start=1)
    if _COMMAND.match(command.text)
}


@pytest.mark.parametrize("place", NOT_RUN)
def test_commands_that_are_not_run_can_be_typed(place: str) -> None:
    found = _COMMAND.match(NOT_RUN[place].replace("\\\n", " "))
    assert found is not None
    command = typer.main.get_command(app)
    arguments = shlex.split(_NEXT_COMMAND.sub("", found[1]), comments=True)
    while arguments and arguments[0] in (inner := commands_in(command)):
        command = inner[arguments.pop(0)]
    with command.make_context("shown", arguments):
        pass


CONSOLE = "```console\n{}\n```\n"


def run_page(shell: PageShell, text: str) -> None:
    for block in blocks(text):
        shell.run(block)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param("$ true\n$ cat nowhere.txt\n$ true", "cat nowhere.txt", id="in_the_middle"),
        pytest.param("$ cat nowhere.txt | cat", "exited 1, not 0", id="in_a_pipe"),
        pytest.param("$ ai-psychiatrist assess nowhere.txt", "nowhere.txt", id="our_own"),
        pytest.param("$ curl http://127.0.0.1:8000/nowhere", "404", id="refused_by_the_server"),
        pytest.param("$ make nothing-of-this-name", "nothing-of-this-name", id="unknown_target"),
        pytest.param("$ no-such-program", "exited 127", id="unknown_program"),
    ],
)
def test_a_command_that_fails_is_noticed(text: str, told: str, shell: PageShell) -> None:
    with pytest.raises(BlockFailed, match=re.escape(told)):
        run_page(shell, CONSOLE.format(text))


def test_a_command_that_does_not_fail_as_shown_is_noticed(shell: PageShell) -> None:
    run_page(shell, "<!-- exits 1 -->\n" + CONSOLE.format("$ true\n$ cat nowhere.txt"))
    run_page(shell, "<!-- exits 1 0 -->\n" + CONSOLE.format("$ cat nowhere.txt\n$ true"))
    with pytest.raises(BlockFailed, match="exited 0, not 1"):
        run_page(shell, "<!-- exits 1 -->\n" + CONSOLE.format("$ true"))
    with pytest.raises(BlockFailed, match="exited 1, not 0"):
        run_page(
            shell, "<!-- exits 1 -->\n" + CONSOLE.format("$ cat nowhere.txt\n$ cat nowhere.txt")
        )


def test_a_block_that_nothing_runs_is_noticed(shell: PageShell) -> None:
    with pytest.raises(BlockFailed, match="bash"):
        run_page(shell, "```bash\nassess\n```\n")
    with pytest.raises(BlockFailed, match="exit 1"):
        run_page(shell, "<!-- exit 1 -->\n" + CONSOLE.format("$ true"))
    run_page(shell, "<!-- not run: a folder of your own -->\n" + CONSOLE.format("$ false"))


def test_python_that_fails_is_noticed(shell: PageShell) -> None:
    with pytest.raises(NameError, match="two"):
        run_page(shell, "```python\none = 1\n```\n\n```python\nprint(one)\nprint(two)\n```\n")


def test_blocks_share_folder_server_and_names(shell: PageShell) -> None:
    run_page(
        shell,
        CONSOLE.format(
            "$ LOG_LEVEL=ERROR ai-psychiatrist serve &\nServing\n$ echo 1 \\\n  > one.txt"
        )
        + CONSOLE.format("$ curl -s localhost:8000/health > health.json")
        + "<!-- exits 1 -->\n"
        + CONSOLE.format("$ ai-psychiatrist interview --protocol phq8\n> not at all\n> stop")
        + "```python\nimport asyncio\nawait asyncio.sleep(0)\none = open('one.txt')\n```\n"
        + "```python\nwith one:\n    assert one.read() == '1\\n'\n```\n"
        + "```python\nimport httpx, json, pathlib\n"
        + "health = httpx.get('http://127.0.0.1:8000/health').json()\n"
        + "assert health == json.loads(pathlib.Path('health.json').read_text())\n```\n",
    )
