"""A terminal that is closed while the app paints keeps nobody waiting."""

from __future__ import annotations

import errno
import io

from workbench.tui.textual_internals.row_compositor import EmptyingWriter


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
