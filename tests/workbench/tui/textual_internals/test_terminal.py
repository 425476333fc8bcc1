"""A terminal that is closed while the app paints keeps nobody waiting; a paste is read as it was copied."""

from __future__ import annotations

import errno
import io

import pytest
from textual import events
from textual.drivers import linux_driver

from workbench.tui.textual_internals.terminal import EmptyingWriter, WholePastes, use_our_terminal


class Closed(io.StringIO):
    def write(self, text: str) -> int:
        raise OSError(errno.EIO, "Input/output error")


def test_what_is_written_to_a_closed_terminal_is_taken_all_the_same() -> None:
    writer = EmptyingWriter(Closed())
    writer.start()
    for _ in range(1_000):
        writer.write("a picture")
    writer.stop()
    assert not writer.is_alive()


COLORED = "\x1b[34m[2026-01-02]\x1b[0m\n\n\x1b[31mSystem message:\x1b[0m\n\nYour fields\x1b[20; \x1b[201 \x1b"


@pytest.mark.parametrize("size", [1, 2, 3, 5, 7, 4096])
def test_a_paste_with_escape_sequences_is_one_paste_however_it_arrives(size: int) -> None:
    copied = COLORED
    data = f"a\x1b[200~{copied}\x1b[201~b\x1b[A\x1b[200~{copied}\x1b[201~c"
    parser = WholePastes()
    found = [event for at in range(0, len(data), size) for event in parser.feed(data[at : at + size])]
    keys = [one.key for one in found if isinstance(one, events.Key)]
    assert [one.text for one in found if isinstance(one, events.Paste)] == [copied, copied]
    assert keys == ["a", "b", "up", "c"]


def test_the_driver_reads_with_it() -> None:
    use_our_terminal()
    assert linux_driver.XTermParser is WholePastes  # type: ignore[attr-defined, comparison-overlap]
