"""What the screen says of keys is what the keys are: the user's own, and in no text a key by its usual name alone."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import workbench
from sessions.model.session import Column
from tests.support.open_app import Desk, at_the_desk
from workbench.state.document import RenderedColumn
from workbench.tui.actions.looking import HELP, HelpScreen, sections
from workbench.tui.keys import NAMED_KEY, KeyWords, every_binding, plain_words
from workbench.tui.panes.verdicts import verdict
from workbench.tui.widgets.guide import Guide

SOURCES = Path(workbench.__file__).parent
KEY = re.compile(
    r"(?<![\w+-])(?:[Ff](?:1\d|20|[1-9])|\^[a-z]|(?:ctrl|alt|shift)\+[^\s`,]+|esc|escape|enter|tab)(?![\w-])"
    r"|`[A-Za-z0-9]`|(?:^|  )[b-zB-Z] [a-z]+"
)
"""What reads like a key: a function key, one that is held, a named one, or a lone letter as hints and help write it."""

OF_TEXTUAL = ("enter", "tab")
"""Keys of Textual's own lists and lines: where no binding of ours has them they are as they are."""

NOT_OURS = {
    "tui/panes/source_editor.py": ("esc",),
    "tui/screens/main.py": ("ctrl+c", "shift+drag"),
    "cli/arguments.py": ("ctrl+d",),
    "cli/commands/capture.py": ("ctrl+c",),
    "serving/board.py": ("ctrl+c",),
}
"""Keys of what is offered while typing: no bindings, like tab and the arrows there. Copying what is selected is
Textual's own key, and the others are the terminal's."""

NO_TEXT = {
    "tui/keys.py": "the bindings themselves, and how keys are written",
    "config/settings.py": "the usual keys as an example of the config file",
    "cli/commands/parse.py": "the command line, outside of the app",
    "cli/commands/send.py": "the command line, outside of the app",
    "cli/commands/bench.py": "the command line, outside of the app",
    "cli/commands/serve.py": "the command line, outside of the app",
}


def configure(home: Path, text: str) -> None:
    place = home / "config" / "adapter-workbench" / "config.toml"
    place.parent.mkdir(parents=True)
    place.write_text(text, encoding="utf-8")


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """The texts of a module but for docstrings, bindings, and what is compared with the key of an event."""
    tree = ast.parse(path.read_text())
    left_out: set[int] = set()
    for node in ast.walk(tree):
        called = node.func if isinstance(node, ast.Call) else None
        is_binding = isinstance(called, ast.Name) and called.id in ("Binding", "binding", "pane_keys")
        if is_binding or isinstance(node, ast.Compare):
            left_out |= {id(one) for one in ast.walk(node)}
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            left_out.add(id(node.value))
        elif isinstance(node, ast.Assign) and "SWITCH" in ast.unparse(node.targets[0]):
            left_out |= {id(one) for one in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in left_out:
            yield node.lineno, node.value


@cache
def shown() -> list[tuple[str, str]]:
    help_texts = enumerate(HELP.read_text("utf-8").splitlines(), 1)
    return [(f"tui/help.md:{line}", text) for line, text in help_texts] + [
        (f"{path.relative_to(SOURCES).as_posix()}:{line}", text)
        for path in sorted(SOURCES.rglob("*.py"))
        if path.relative_to(SOURCES).as_posix() not in NO_TEXT
        for line, text in texts(path)
    ]


def test_no_text_names_a_key_by_its_usual_name_alone() -> None:
    found = [
        (place, word)
        for place, text in shown()
        for word in KEY.findall(NAMED_KEY.sub("", text))
        if " " in text.strip() and word not in (*OF_TEXTUAL, *NOT_OURS.get(place.partition(":")[0], ()))
    ]
    assert found == []


def test_what_reads_like_a_key_is_found() -> None:
    for text in (
        "F5 sends",
        "no; shift+F5 asks",
        "^n add",
        "a text  d copy",
        "`x` deletes",
        "esc closes",
        "ctrl+] goes",
    ):
        assert KEY.search(text), text
    for text in ("FP8 weights", "an escaped one", "a tabular form", "the letter a"):
        assert not KEY.search(text), text


def test_each_key_named_is_one_that_the_binding_has() -> None:
    usual: dict[str, set[str]] = {}
    for _, binding in every_binding():
        usual.setdefault(binding.id or "", set()).update(plain_words(key.strip()) for key in binding.key.split(","))
    named = [(place, *found) for place, text in shown() for found in NAMED_KEY.findall(text.replace("{{", "{"))]
    assert len(named) > 80
    wrong = [one for one in named if one[2].replace("^", "ctrl+") not in usual.get(one[1], set())]
    assert wrong == []


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("f5", "F5"),
        ("shift+f5", "shift+F5"),
        ("ctrl+right_square_bracket", "ctrl+]"),
        ("ctrl+backslash", "ctrl+\\"),
        ("escape", "esc"),
        ("shift+down", "shift+↓"),
        ("space", "space"),
        ("full_stop", "."),
        ("Y", "Y"),
    ],
)
def test_keys_are_written_as_people_write_them(key: str, words: str) -> None:
    assert plain_words(key) == words


def test_a_key_of_the_users_takes_the_place_of_the_usual_one() -> None:
    keys = KeyWords({"app.send_all": "alt+s,f5", "app.save": "ctrl+w"})

    assert keys("{app.send_all|F5} sends, {app.send_column|F8} one; {app.save|^s}") == "alt+s sends, F8 one; ^w"
    assert keys("a {name} and {a|b} stay") == "a {name} and {a|b} stay"


def test_the_line_between_prompt_and_reply_names_the_users_key() -> None:
    keys = KeyWords({"app.send_all": "alt+s"})
    rendered = RenderedColumn(Column("chat", "chat"), request=object())  # type: ignore[arg-type]

    assert verdict(rendered, None, keys=keys).plain == "reply none yet · alt+s send"


def test_the_line_between_prompt_and_reply_names_no_key_before_there_is_a_signature() -> None:
    assert verdict(RenderedColumn(Column("chat", "chat")), None).plain == "reply none yet"


@pytest.mark.slow
def test_with_another_key_to_send_every_part_of_the_screen_says_so(tmp_path: Path) -> None:
    configure(tmp_path, '[keymap]\n"app.send_all" = "f15"\n"rows.add" = "alt+n"\n"help.close" = "f16"\n')

    async def act(desk: Desk) -> None:
        def said() -> str:
            """The whole screen, in one line."""
            rows = ["".join(part.text for part in row) for row in desk.app.screen._compositor.render_strips()]
            return re.sub(r"\s+", " ", " ".join(rows))

        assert desk.app.screen.query_one(Guide).display
        assert "▸ F15 sends all columns" in said()
        assert "none yet · F15 send" in desk.verdict("chat")
        assert " F15 send " in said()
        desk.main.editors.open("demos")
        await desk.settle()
        assert "alt+n add" in said()
        await desk.press("f4", "f7", "3")
        assert "F15 sends every column, F8 this one" in said()
        await desk.press("escape", "f2", "f1")
        assert isinstance(desk.app.screen, HelpScreen)
        await desk.until(lambda: "F15 sends." in said())
        assert "F16 close" in said()
        assert not NAMED_KEY.search(said())
        await desk.press("f16", "f15")
        await desk.until(lambda: desk.reply("chat"), "for the replies: it is also the key that send")

    at_the_desk(act, home=tmp_path)


def test_every_section_of_the_help_is_named_after_a_pane_or_screen() -> None:
    sources = "".join(path.read_text("utf-8") for path in (SOURCES / "tui").rglob("*.py"))
    assert [one for one in sections() if f'"{one}"' not in sources] == []


@pytest.mark.slow
@pytest.mark.parametrize("size", [(120, 35), (80, 24)])
def test_help_lists_keys_in_columns_that_never_touch(size: tuple[int, int]) -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f1")
        rows = str(desk.app.screen.query_one(".dialog-text").render()).splitlines()
        assert max(map(len, rows)) <= desk.app.screen.query_one(".dialog-text").size.width
        (project,) = [row for row in rows if "alt+p" in row]
        (send,) = [row for row in rows if row.startswith("  F5")]
        assert project.index("Toggle") == send.index("Send"), "under one another"
        assert project[: project.index("Toggle")].endswith("  ")

    at_the_desk(act, size=size)


@pytest.mark.slow
def test_help_of_the_lesson_begins_with_the_lesson() -> None:
    async def act(desk: Desk) -> None:
        await desk.press("f6", "f1")
        helps = desk.app.screen.query(".dialog-help")
        said = [helps.first().render_line(row).text.strip() for row in range(helps.first().size.height)]
        assert len(helps) == 1 and "Lesson" in said

    at_the_desk(act)
