"""The terminal: writes that outlast it, whole pastes, keys in the order they were typed, and clipboards."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from typing import IO, Any, cast

from textual import events
from textual._xterm_parser import BRACKETED_PASTE_END as END
from textual._xterm_parser import BRACKETED_PASTE_START as START
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.drivers._writer_thread import WriterThread
from textual.message import Message

from adapters.late_dataclasses import dataclass, field

ESC = "\x1b"
STAND_IN = "\ud81b"
"""Stands for ESC within a paste; input never contains it, as decoding UTF-8 gives no unpaired surrogates."""
PATIENCE_S = 1.0
"""Seconds to wait for an earlier key, which may have been sent to a widget that no longer exists."""
LONGEST_START_S = 10.0
"""Seconds to wait for the first screen."""
SECONDS_OF_TMUX = 5.0


class EmptyingWriter(WriterThread):
    """A writer thread that keeps taking output after the terminal has closed.

    Textual's thread ends at the first error. Its queue then fills up and the app blocks on it for ever, without
    learning that the terminal was closed or that it should exit.
    """

    def __init__(self, file: IO[str]) -> None:
        super().__init__(cast("IO[str]", _Lasting(file)))


class _Lasting:
    """A file that ignores the errors of a closed terminal."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self.fileno = file.fileno

    def write(self, text: str) -> None:
        with suppress(OSError):
            self._file.write(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._file.flush()


class WholePastes(XTermParser):
    """A parser whose pastes keep their escape sequences, such as the colors of a copied terminal.

    Textual reads an ESC within a paste as the start of a key: 33 characters from there leave the paste and are typed.
    """

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._is_pasting = False
        self._before = ""
        """The last characters before `feed`: the start of a mark, when it was cut."""

    def feed(self, data: str) -> Iterator[Message]:
        given = self._with_stand_ins(data)
        if data and not given:
            return
        for event in super().feed(given):
            if isinstance(event, events.Paste):
                event.text = event.text.replace(STAND_IN, ESC)
            yield event

    def _with_stand_ins(self, data: str) -> str:
        """Replace the ESC characters of a paste; keep back what may be the start of its end."""
        done = ""
        while data:
            if self._is_pasting:
                pasted, end, data = (self._before + data).partition(END)
                kept = 0 if end else next((n for n in range(len(END) - 1, 0, -1) if pasted.endswith(END[:n])), 0)
                self._before = pasted[len(pasted) - kept :]
                done += pasted[: len(pasted) - kept].replace(ESC, STAND_IN) + end
                self._is_pasting = not end
            else:
                seen = self._before + data
                at = seen.find(START)
                self._is_pasting = at >= 0
                length = at + len(START) - len(self._before) if self._is_pasting else len(data)
                self._before = "" if self._is_pasting else seen[1 - len(START) :]
                done, data = done + data[:length], data[length:]
        return done


def use_our_terminal() -> None:
    """Make the driver for Linux and macOS use `EmptyingWriter` and `WholePastes`."""
    if sys.platform != "win32":
        from textual.drivers import linux_driver

        linux_driver.WriterThread = EmptyingWriter  # type: ignore[attr-defined]
        linux_driver.XTermParser = WholePastes  # type: ignore[attr-defined]


@dataclass(eq=False)
class KeyOrder:
    """Deliver the app's events in order; `deliver` is Textual's handler, `report` receives exceptions.

    Textual hands a key to the focused widget at once, but runs a binding only after the key has bubbled up to the
    app. By then the letters typed after it are already in the text (Textual 8.2.8: `ctrl+u` and `ab` in one write
    leave nothing). A priority binding also overtakes letters that the widget has not handled yet. Here, a key that
    is not a letter waits for the letters before it, and later keys wait for that key.

    Such a key also waits until the first screen is `complete`, because its binding may not exist before that. So does a
    letter that was typed before a widget has the focus.

    A letter with alt is a key, not text. For terminals that send it as ESC and the letter, Textual sets its character
    (`XTermParser._sequence_to_key_events`), so an editor would insert it and its binding would never run.
    """

    _app: App[Any]
    _deliver: Callable[[events.Event], Awaitable[None]]
    _report: Callable[[Exception], object]
    _complete: asyncio.Event
    _waiting: deque[events.Key | events.Paste] = field(default_factory=deque)
    is_busy: bool = False
    """True while a key or paste is carried out, so that later ones wait."""
    _letters_under_way: bool = False
    _task: asyncio.Task[None] | None = None

    async def take(self, event: events.Event) -> None:
        """Deliver an event; keys and pastes wait for earlier ones."""
        if isinstance(event, events.Key) and event.key.startswith("alt+"):
            event.character = None
        if not isinstance(event, (events.Key, events.Paste)) or event.is_forwarded:
            await self._deliver(event)
        elif self.is_busy:
            self._waiting.append(event)
        elif (
            isinstance(event, events.Key)
            and event.is_printable
            and (self._complete.is_set() or (self._app.screen_stack and self._app.focused is not None))
        ):
            self._letters_under_way = True
            await self._deliver(event)
        else:
            self.is_busy = True
            self._task = asyncio.create_task(self._carry_out(event))

    async def _carry_out(self, event: events.Key | events.Paste) -> None:
        try:
            if not self._complete.is_set():  # after a timeout, no key waits for the first screen again
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._complete.wait(), LONGEST_START_S)
                self._complete.set()
            if self._letters_under_way:
                await self._settled()
            await self._deliver(event)
            await self._settled()
        except Exception as error:  # a handler may raise anything
            self._report(error)
        finally:
            self._letters_under_way = self.is_busy = False
            while self._waiting and not self.is_busy:
                await self.take(self._waiting.popleft())

    async def _settled(self) -> None:
        """Wait until the focused widget, its parents and the app have handled their messages."""
        node = self._app.focused or self._app.screen
        for one in node.ancestors_with_self:
            done = asyncio.Event()
            if one.post_message(events.Callback(callback=done.set)):
                try:
                    await asyncio.wait_for(done.wait(), PATIENCE_S)
                except TimeoutError:
                    return


def copy_to_clipboards(app: App[Any], text: str, to_programs: bool = True) -> None:
    """Copy `text` to every clipboard, without waiting for the programs that this starts.

    Without `to_programs` only the terminal's clipboard is used. Unpaired surrogates become `?`.
    """
    encodable = text.encode("utf-8", "replace").decode("utf-8")
    App.copy_to_clipboard(app, encodable)
    if to_programs and not app.is_headless:
        threading.Thread(target=_copy_to_programs, args=(encodable,), daemon=True, name="clipboard").start()


def _copy_to_programs(text: str) -> None:
    copy_to_tmux(text)
    try:
        import pyperclip

        pyperclip.copy(text)
    except Exception:  # no clipboard on this machine; the terminal has been asked as well
        return


def copy_to_tmux(text: str) -> bool:
    """Copy through the surrounding tmux; return whether it accepted the text.

    By default (`set-clipboard external`) tmux drops OSC 52 from programs, but `load-buffer -w` passes the text on. tmux
    before 3.2 has no `-w`; there only tmux's own buffer gets the text.
    """
    if not os.environ.get("TMUX"):
        return False
    for options in (("-w",), ()):
        words = ["tmux", "load-buffer", *options, "-"]
        try:
            done = subprocess.run(words, input=text.encode(), capture_output=True, timeout=SECONDS_OF_TMUX, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return False
        if done.returncode == 0:
            return True
    return False
