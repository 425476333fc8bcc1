"""Keys while the app is busy: `python benchmarks/streaming.py` prints keystroke → editor beside that of a bare editor.

The bare Textual app has one text area, and each letter is typed into ours and then into it, so that both are measured
under the same load of streams, or beside the same litellm. Bars are ratios of medians: 1.5 at rest, 2 while the app is
busy.

Measured in a real pseudo-terminal, on the real program, from the write of a letter that is on the screen nowhere else
until that letter is painted: at rest, while litellm is loaded (a first send), and while five columns stream at 200
chunks a second together, and each. A server in a process of its own sends the chunks, through the real litellm child.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

from terminal import Terminal  # noqa: E402

from benchmarks.measure import BARE, TO_DESCRIPTION, state_with_open_prompts, tell  # noqa: E402

AT_REST, BUSY = 1.5, 2.0
COLUMNS = ("chat", "json", "xml", "baml", "twostep")
SOURCE = [
    "class Ask(dspy.Signature):",
    "    answer: str = dspy.OutputField()",
    '    question: str = dspy.InputField(desc="")',
]
LETTERS = [chr(code) for code in (*range(0x0430, 0x0450), *range(0x03B1, 0x03CA), *range(0x0561, 0x0587))]
"""Cyrillic, Greek and Armenian ones: each is typed once, and nothing else on the screen has any."""
PAUSE_S = 0.15
PAUSE_WHILE_LOADING_S = 0.05
"""Loading is over in two or three seconds, and a p95 needs more keys than fit in there otherwise."""
PATIENCE_S = 10.0
PIECE = "1234 5678 "
SECONDS_OF_A_STREAM = 60


def main() -> None:
    if sys.argv[1:2] == ["serve"]:
        _serve(float(sys.argv[2]))
        return
    for said, each in (("200 chunks a second in all", 200 / len(COLUMNS)), ("200 chunks a second each", 200.0)):
        with tempfile.TemporaryDirectory() as folder:  # of its own: what the first leaves unsaved is not asked about
            _measure(Path(folder), said, each)


def _measure(here: Path, said: str, each: float) -> None:
    command = [sys.executable, str(Path(__file__)), "serve", str(each)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = server.stdout.readline().strip()
        environment = {
            "HOME": str(here),
            "XDG_STATE_HOME": state_with_open_prompts(here),
            "PYTHONPATH": str(ROOT),
            "OPENAI_API_BASE": f"http://127.0.0.1:{port}/v1",
            "OPENAI_API_KEY": "none",
        }
        words = [sys.executable, "-m", "workbench", str(_session(here))]
        (here / "empty.txt").write_text("")
        bare = [sys.executable, "-c", BARE, str(here / "empty.txt"), str(here / "empty.txt"), "0"]
        with (
            Terminal(words, here, (160, 45), environment) as ours,
            Terminal(bare, here, (160, 45), environment) as alone,
        ):
            both = ours, alone
            ours.wait_for("Your input")
            _drain(both, 1.0)
            for key in TO_DESCRIPTION:
                ours.press(key)
                _drain(both, 0.1)
            letters = iter(LETTERS)
            _show("at rest", AT_REST, *_typed(both, letters, 25))
            ours.press("f5")
            _drain(both, 0.05)
            _show("while litellm is loaded", BUSY, *_typed(both, letters, 35, PAUSE_WHILE_LOADING_S, "1234"))
            _drain(both, 1.5)
            _show(f"five columns, {said}", BUSY, *_typed(both, letters, 35))
        server.kill()


def _typed(
    terminals: Sequence[Terminal], letters: Iterator[str], count: int, pause: float = PAUSE_S, until: str = ""
) -> tuple[list[float], ...]:
    """Seconds from each letter's write until it is painted, in turn; ends early if the first terminal paints `until`.

    What was painted before is forgotten, to stay small.
    """
    times: tuple[list[float], ...] = tuple([[] for _ in terminals])
    for _, letter in zip(range(count), letters, strict=False):
        for terminal, found in zip(terminals, times, strict=True):
            terminal.painted = b""
            found.append(_key(terminal, letter))
            _drain(terminals, pause / len(terminals))
        if until and until.encode() in terminals[0].painted:
            break
    return times


def _key(terminal: Terminal, letter: str) -> float:
    mark = letter.encode()
    start = time.perf_counter()
    terminal.press(letter)
    seen = len(terminal.painted)
    while mark not in terminal.painted[max(0, seen - 3) :]:
        if time.perf_counter() > start + PATIENCE_S:
            raise AssertionError(f"{letter} was not painted")
        seen = len(terminal.painted)
        terminal.wait_for_byte()
    return time.perf_counter() - start


def _drain(terminals: Sequence[Terminal], seconds: float) -> None:
    """Takes in what is painted for so long, whether that ends or not: nobody waits for a full pipe."""
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        for terminal in terminals:
            terminal.reads_within(0.005)


def _show(said: str, bar: float, times: list[float], least: list[float]) -> None:
    if times:
        tell(f"{said}: key -> editor", bar, sorted(times), sorted(least))
    else:
        print(f"     {said}: over before a key was typed")


def _session(here: Path) -> Path:
    content: dict[str, Any] = {
        "format": 1,
        "signature": {"text": SOURCE, "instructions": ["Answer from the context."]},
        "model": "openai/streaming",
        "columns": [{"id": name, "adapter": name} for name in COLUMNS],
        "demos": [{"values": {"question": f"{number} " + "context " * 20, "answer": "yes"}} for number in range(16)],
        "cases": [{"name": "one", "inputs": {"question": "Is it so?"}}],
    }
    path = here / "streaming.json"
    path.write_text(json.dumps(content))
    return path


def _serve(rate: float) -> None:
    """Streams pieces at `rate` a second to whoever asks, and ends with its parent."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            self.close_connection = True
            start = time.monotonic()
            for number in range(int(rate * SECONDS_OF_A_STREAM)):
                text = PIECE if number % 8 else PIECE + "\n"
                chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
                chunk["choices"] = [{"index": 0, "delta": {"content": text}, "finish_reason": None}]
                try:
                    self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
                    self.wfile.flush()
                except OSError:
                    return
                time.sleep(max(0.0, start + (number + 1) / rate - time.monotonic()))

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(server.server_address[1], flush=True)
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()
    server.serve_forever()


if __name__ == "__main__":
    main()
