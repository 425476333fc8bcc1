"""The process that calls models: what it can see, what it prints, and when it ends."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from loopback_server import LoopbackServer

from adapters.lm import child
from adapters.lm import open as open_model

ROOT = Path(__file__).parents[3]


def test_importing_and_opening_models_starts_nothing_and_loads_no_client() -> None:
    script = """
import json, sys, threading
import adapters.lm, adapters.running.runner
adapters.lm.open("openai/gpt-4o")
adapters.lm.open("offline/exact")
from adapters.lm import child
print(json.dumps([sorted({"litellm", "openai", "httpx", "aiohttp"} & set(sys.modules)), len(child._children)]))
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [[], 0]


@pytest.mark.slow
def test_the_child_ends_with_its_parent_however_that_ends() -> None:
    script = """
import os, sys
from adapters.lm import child
one = child.child_for(dict(os.environ), keyless=False)
one.ready.wait()
print(one.pid, flush=True)
os.kill(os.getpid(), 9)
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    pid = int(done.stdout)
    # The pipe's last reader is gone, and so is the child, once its end can be seen here.
    assert _gone(pid)


def _gone(pid: int) -> bool:
    """Waits, without a clock of its own, until the process is no more."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    import select

    try:
        return bool(select.select([handle], [], [], 10)[0])
    finally:
        os.close(handle)


@pytest.mark.slow
def test_a_users_own_package_of_our_name_is_never_loaded(tmp_path: Path, server: LoopbackServer) -> None:
    for name in ("adapters", "sessions", "json"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('the wrong package')")
    script = f"""
import os, sys
sys.path.insert(0, {str(ROOT)!r})
from adapters import lm
os.chdir({str(tmp_path)!r})
print("".join(chunk.text for chunk in lm.open("openai/any-name").stream({{"messages": []}})))
"""
    done = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True)
    assert "It rains a lot." in done.stdout


@pytest.mark.slow
def test_what_the_child_prints_reaches_nobodys_screen(server: LoopbackServer, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('noise ' * 10); import sys; print('more', file=sys.stderr)")
    script = """
from adapters import lm
print("".join(chunk.text for chunk in lm.open("openai/any-name").stream({"messages": []})))
"""
    environment = {**os.environ, "LITELLM_LOG": "DEBUG"}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == server.text_for({}).strip()
    assert done.stderr == ""


def test_a_child_that_cannot_start_is_one_clear_line(tmp_path: Path, server: LoopbackServer) -> None:
    (tmp_path / "litellm").mkdir()
    (tmp_path / "litellm" / "__init__.py").write_text("raise ImportError('no such thing here')")
    script = f"""
import os
os.environ["PYTHONPATH"] = {str(tmp_path)!r}
from adapters import lm
try:
    list(lm.open("openai/any-name").stream({{"messages": []}}))
except lm.ProviderError as error:
    print(error.kind, error.message)
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "setup litellm cannot be used here: ImportError: no such thing here"


def test_keyless_calls_have_a_child_of_their_own_without_a_single_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-99999999")
    model = open_model("openai/x", api_base="http://127.0.0.1:9")
    model.warm()  # type: ignore[attr-defined]
    pid = child._children[True].pid
    assert b"canary" not in Path(f"/proc/{pid}/environ").read_bytes()


@pytest.mark.slow
def test_a_model_says_whether_it_is_still_loading(server: LoopbackServer) -> None:
    model = open_model("openai/any-name")
    list(model.stream({"messages": []}))
    assert model.is_loading is False  # type: ignore[attr-defined]


BUSY_WITH_ANOTHER_CALL = """
import json, sys
print(json.dumps({"op": "ready"}), flush=True)
for line in sys.stdin:
    if json.loads(line)["op"] == "cancel":
        print(json.dumps({"op": "chunk", "id": 2}), flush=True)
"""


def test_a_child_is_killed_for_a_cancelled_call_once_it_says_nothing_and_not_while_it_is_busy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    watches: list[Callable[[], None]] = []

    class Watch:
        def __init__(self, seconds: float, look: Callable[..., None], arguments: tuple[int, int]) -> None:
            watches.append(lambda: look(*arguments))

        def start(self) -> None:
            pass

    (tmp_path / "worker.py").write_text(BUSY_WITH_ANOTHER_CALL)
    monkeypatch.setattr(child, "WORKER", tmp_path / "worker.py")
    monkeypatch.setattr(child, "Timer", Watch)
    one = child.Child(dict(os.environ), None)
    assert one.ready.wait(20)
    first, ended = one.begin({"op": "call"})
    _, of_the_other = one.begin({"op": "call"})
    one.cancel(first)
    assert of_the_other.get(timeout=20)["op"] == "chunk"
    watches.pop(0)()
    assert (one.problem, len(watches)) == (None, 1)
    watches.pop(0)()
    assert ended.get(timeout=20)["op"] == "lost"
    assert "SIGKILL" in (one.problem or "")


def test_offline_models_have_no_process() -> None:
    before = dict(child._children)
    list(open_model("offline/exact", chunk_seconds=0).stream({"messages": []}))
    assert child._children == before


MEGABYTES_GROWN = 40
"""What the process that calls models may grow by for a reply, however long that is; it was over 1,000 for 20 MB."""


def memory_of(pid: int, kind: str) -> int:
    """Megabytes that the process holds ("VmRSS") or has held at most ("VmHWM")."""
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) // 1024 for line in status if line.startswith(f"{kind}:"))


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="this system does not say what a process holds")
@pytest.mark.parametrize(
    ("model", "words", "length"),
    [
        ("openai/huge-in-pieces", 1, 20_000_000),
        ("anthropic/huge-in-pieces", 1, 20_000_000),
        ("openai/logprobs", 24_000, 24_000 * len("word ") - 1),
    ],
    ids=["openai", "anthropic", "pieces that cannot be put together"],
)
def test_a_long_reply_is_not_kept_in_the_child(server: LoopbackServer, model: str, words: int, length: int) -> None:
    server.reply = " ".join(["word"] * words)
    child.shut_down()
    lm = open_model(model, timeout=60)
    loaded = child.child_for(dict(os.environ), keyless=False)
    assert loaded.ready.wait(120)
    before = memory_of(loaded.pid, "VmRSS")
    got = sum(len(chunk.text) for chunk in lm.stream({"messages": [{"role": "user", "content": "?"}]}))
    assert got == length
    assert memory_of(loaded.pid, "VmHWM") - before < MEGABYTES_GROWN
