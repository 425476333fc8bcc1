"""The real program in a real terminal in a storm: no key is lost, nothing breaks, no stranger's byte is painted."""

from __future__ import annotations

import codecs
import os
import random
import re
import signal
from pathlib import Path

import pytest

from sessions.file import store
from sessions.model.session import Case, Column, Session, SignatureText
from tests.e2e.test_walk import at
from tests.support.hostile_session import SHORT, session_of
from tests.support.terminal import PATIENCE

pytestmark = pytest.mark.slow

SIZES = ((160, 45), (80, 24), (120, 35), (200, 60), (40, 12))
LETTERS = "abc XYZ019[]{}\"'\\.,é日"
KEYS = {"left": b"\x1b[D", "right": b"\x1b[C", "backspace": b"\x7f", "delete": b"\x1b[3~"}
ENDS = {"start": b"\x1b[1;5H", "end": b"\x1b[1;5F"}
LOOKS = (
    *(("f2", "1 of 20"), ("f2", "^n"), ("f2", "^n"), ("f2", "^n"), ("f3", "▸"), ("f4", "answer"), ("f6", "Lesson")),
    *(("right", "2 of"), ("escape", "send"), ("f7", "Reply × parser"), ("2", "v as JSON"), ("3", "v raw")),
    *(("4", "go to the reply"), ("5", "compare with"), ("6", "go to its place"), ("escape", "F5")),
    *(("ctrl+t", "Cases"), ("escape", "F5"), ("f5", "no provider"), ("ctrl+p", "Search"), ("case", "Case:")),
)
"""Keys, and what is painted for each of a hostile session."""
PASTED = ("two words", "[/x] [bold]", "日本語 é", "q" * 300)


class Text:
    """The log of edits as a text of one line with a cursor: what the editor must hold in the end."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def put(self, text: str) -> bytes:
        self.text = self.text[: self.at] + text + self.text[self.at :]
        self.at += len(text)
        return text.encode()

    def paste(self, text: str) -> bytes:
        return b"\x1b[200~" + self.put(text) + b"\x1b[201~"

    def key(self, name: str) -> bytes:
        if name == "left":
            self.at = max(0, self.at - 1)
        elif name == "right":
            self.at = min(len(self.text), self.at + 1)
        elif name == "backspace" and self.at:
            self.text = self.text[: self.at - 1] + self.text[self.at :]
            self.at -= 1
        elif name == "delete":
            self.text = self.text[: self.at] + self.text[self.at + 1 :]
        return KEYS[name]

    def go(self, where: str) -> bytes:
        self.at = 0 if where == "start" else len(self.text)
        return ENDS[where]

    def storm(self, one: random.Random, count: int) -> bytes:
        data = b""
        for _ in range(count):
            kind = one.choices(("letter", "key", "paste", "end"), (70, 25, 3, 2))[0]
            if kind == "letter":
                data += self.put(one.choice(LETTERS))
            elif kind == "key":
                data += self.key(one.choice(list(KEYS)))
            elif kind == "paste":
                data += self.paste(one.choice(PASTED))
            else:
                data += self.go(one.choice(list(ENDS)))
        return data


def asked(folder: Path, question: str = "Is it raining?") -> Path:
    """A session in a file, with one text to edit."""
    columns = tuple([Column(name, name) for name in ("chat", "json", "xml")])
    case = Case("rain", {"question": question})
    session = Session(SignatureText("question -> answer"), columns=columns, cases=(case,), model="offline/exact")
    store.save(session, folder / "q.json")
    return folder / "q.json"


def question_in(path: Path) -> str:
    return str(store.load(path).cases[0].inputs["question"])


def assert_no_mistake(folder: Path) -> None:
    logs = list((folder / "state").rglob("error-*.log"))
    assert not logs, logs[0].read_text()


@pytest.mark.parametrize("seed", [1, 2])
def test_two_thousand_keys_pastes_and_resizes_are_all_in_the_document(tmp_path: Path, seed: int) -> None:
    path, one = asked(tmp_path), random.Random(seed)
    text = Text(question_in(path))
    with at(tmp_path, SIZES[0], path.name) as terminal:
        terminal.wait_for("reply none yet")
        terminal.press("f2")
        terminal.wait_for("rain")
        for _ in range(40):
            terminal.pour(text.storm(one, 50))
            if one.random() < 0.6:
                terminal.resize(*one.choice(SIZES))
            if one.random() < 0.2:
                terminal.pour(b"\x1b[15~")  # F5
        terminal.resize(*SIZES[0])
        terminal.press("ctrl+s")
        terminal.wait_for("saved", patience=6 * PATIENCE)
        terminal.press("ctrl+q")
        assert terminal.wait_for_end(answer="s") == 0  # a reply may have come after the save
    assert question_in(path) == text.text
    assert_no_mistake(tmp_path)


def test_a_paste_of_a_megabyte_is_in_the_document(tmp_path: Path) -> None:
    path = asked(tmp_path)
    text = Text(question_in(path))
    with at(tmp_path, SIZES[0], path.name) as terminal:
        terminal.wait_for("reply none yet")
        terminal.press("f2")
        terminal.wait_for("rain")
        pasted = "A line of what was pasted, and one more.\n" * 25_000
        terminal.pour(text.paste(pasted))
        terminal.pour(text.put("after"))
        terminal.press("ctrl+s")
        terminal.wait_for("saved")
        terminal.press("ctrl+q")
        assert terminal.wait_for_end() == 0
    assert question_in(path) == text.text
    assert_no_mistake(tmp_path)


def test_a_suspended_program_goes_on_where_it_was(tmp_path: Path) -> None:
    path = asked(tmp_path)
    with at(tmp_path, SIZES[0], path.name) as terminal:
        terminal.wait_for("reply none yet")
        terminal.press("f2")
        terminal.wait_for("rain")
        terminal.pour(b"before ")
        terminal.wait_for("before")
        os.kill(terminal.pid, signal.SIGTSTP)
        while not os.waitpid(terminal.pid, os.WUNTRACED | os.WNOHANG)[0]:
            terminal.reads_within(0.05)  # it stops when everything that it painted has been read
        terminal.press()
        os.kill(terminal.pid, signal.SIGCONT)
        terminal.wait_for("reply none yet")
        terminal.pour(b"after ")
        terminal.wait_for("after")
        terminal.press("ctrl+s")
        terminal.wait_for("saved")
    assert question_in(path).startswith("before after ")
    assert_no_mistake(tmp_path)


UNFINISHED = re.compile(r"\x1b[\[\]()]?[0-9;:?<>=$a-z-]{0,40}$")
"""What was read last may end within a sequence."""


def test_no_byte_of_a_hostile_session_controls_the_terminal(tmp_path: Path) -> None:
    store.save(session_of(SHORT), tmp_path / "h.json")
    with at(tmp_path, SIZES[0], "h.json") as terminal:
        terminal.wait_for("system")
        for key, seen in LOOKS:
            terminal.press(key)
            terminal.wait_for(seen)
        painted = UNFINISHED.sub("", codecs.getincrementaldecoder("utf-8")().decode(terminal.painted))
    for stranger in ("\x1b]52", "\x1b]0;owned", "\x1b[2J", "\x1b[31mred"):
        assert stranger not in painted
    ours = re.sub(r"\x1b\[[0-9;:?<>=$]*[A-Za-z~]|\x1b[()][AB0]|\x1b[=>78]|\x1b\]22;[a-z-]+\x07", "", painted)
    controls = {one for one in ours if ord(one) < 32 or 127 <= ord(one) < 160} - {"\r", "\n"}
    assert not controls, {one: ours[max(0, ours.index(one) - 40) : ours.index(one) + 40] for one in controls}
