"""The program comes first: whatever becomes of a capture, a call of dspy gives what it gives without one."""

from __future__ import annotations

import ast
import errno
import os
import signal
import sys
from pathlib import Path
from typing import Any

import dspy
import pytest
from scripted_dspy import Scripted, chat

from sessions.file import store
from workbench.capture import Capture, capture, capturing
from workbench.capture.in_your_process import outlet
from workbench.capture.in_your_process.listening import Listener
from workbench.capture.in_your_process.outlet import Outlet

pytestmark = pytest.mark.filterwarnings("ignore:Implementing custom LMs:DeprecationWarning")
STANDS_ALONE = Path(outlet.__file__).parent
WAIT_S = 60


def asked(question: str) -> str:
    return str(dspy.Predict("question -> answer")(question=question).answer)


def listener_with(command: list[str], folder: Path) -> Listener:
    return Listener(Outlet(capturing.writer(capturing.options_of(folder), command)))


def said_by_capture(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("workbench capture: ")]


def test_a_child_that_is_killed_loses_nothing(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    listener = Capture(folder)
    with dspy.context(callbacks=[listener]):
        assert asked("before") == "fine"
        child = child_of(listener)
        child.kill()
        child.wait(WAIT_S)
        assert [asked(f"after {number}") for number in range(5)] == ["fine"] * 5
        listener.close()
    (path,) = folder.iterdir()
    assert [one.name for one in store.load(path).cases] == ["before", *[f"after {number}" for number in range(5)]]
    assert "has ended" not in capfd.readouterr().err


def child_of(listener: Listener) -> Any:
    assert listener.outlet._writer is not None and listener.outlet._writer._child is not None
    return listener.outlet._writer._child


def test_a_program_that_lets_a_broken_pipe_end_it_is_not_ended_by_ours(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    before = signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        listener = listener_with([sys.executable, "-c", "raise SystemExit(3)"], tmp_path)
        for _ in range(2_000):
            listener.outlet.put('"' + "x" * 1_000 + '"')
        listener.outlet.close()
    finally:
        signal.signal(signal.SIGPIPE, before)
    assert "the process that writes the sessions has ended" in capfd.readouterr().err


def test_nothing_is_written_to_the_child_whose_end_could_then_end_the_program(tmp_path: Path) -> None:
    got = tmp_path / "got"
    program = f"import sys; open({str(got)!r}, 'wb').write(sys.stdin.buffer.read())"
    listener = listener_with([sys.executable, "-c", program], tmp_path)
    listener.outlet.put('"a call"')
    listener.outlet.close()
    assert got.read_bytes() == b""


def test_a_child_that_cannot_be_started_is_said_once(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    listener = listener_with(["/no/such/python"], folder)
    with dspy.context(callbacks=[listener]):
        assert [asked(f"number {number}") for number in range(3)] == ["fine"] * 3
        listener.outlet.close()
    (said,) = said_by_capture(capfd.readouterr().err)
    assert "cannot be started" in said


def test_a_full_disk_loses_the_sessions_and_nothing_else(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    limited = ["/bin/sh", "-c", 'ulimit -f 1; exec "$@"', "sh", *capturing.COMMAND]
    listener = listener_with(limited, folder)
    with dspy.context(callbacks=[listener]):
        assert asked("Why?") == "fine"
        listener.outlet.close()
    said = capfd.readouterr().err
    assert said.count("cannot be written") == 1
    assert "Traceback" not in said
    assert list(folder.iterdir()) == []


def test_a_child_that_does_not_read_lets_calls_be_lost_and_never_wait(
    folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outlet, "LONGEST_FILE", 20_000)
    listener = listener_with([sys.executable, "-c", "import sys; sys.stdin.read(); raise SystemExit(1)"], folder)
    for number in range(2_500):
        listener.outlet.put(f'"{number}{"x" * 200}"')
    writer = listener.outlet._writer
    assert writer is not None
    lines = [line for file in Path(writer.folder).glob("*.calls") for line in file.read_text().splitlines()]
    made = sum(file.stat().st_size for file in Path(writer.folder).glob("*.made"))
    lost = lines.count('{"lost":1}')
    assert len({*lines}) - 2 + lost == 2_500 == made and lost
    listener.outlet.close()
    assert said_by_capture(capfd.readouterr().err) == [
        "workbench capture: calls are not captured: they come faster than sessions are written",
        "workbench capture: the process that writes the sessions has ended; calls are not captured",
    ]
    assert not Path(writer.folder).exists()


def test_a_disk_that_is_full_for_a_while_loses_whole_calls_alone(
    folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write, is_full = os.write, [False]

    def limited(file: int, data: bytes) -> int:
        if is_full[0] and len(data) > 50:
            write(file, data[:50])
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(file, data)

    monkeypatch.setattr(os, "write", limited)
    with capture(folder):
        for one in ("before", "meanwhile", "afterwards"):
            is_full[0] = one == "meanwhile"
            assert asked(one) == "fine"
    (path,) = folder.iterdir()
    assert [one.name for one in store.load(path).cases] == ["before", "afterwards"]
    said = capfd.readouterr().err
    assert "calls are not captured: No space left on device" in said and "1 call not captured" in said


class FailsOnce:
    """A value of which dspy can make a text, and the capture, which looks first, cannot."""

    asked = 0

    def __str__(self) -> str:
        self.asked += 1
        if self.asked == 1:
            raise RuntimeError("not now")
        return "a text"


def test_a_value_that_has_no_text_loses_its_call_alone(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with capture(folder):
        assert dspy.Predict("question -> answer")(question=FailsOnce()).answer == "fine"
        assert asked("Why?") == "fine"
    (path,) = folder.iterdir()
    assert [one.name for one in store.load(path).cases] == ["Why?"]
    said = said_by_capture(capfd.readouterr().err)
    assert [line for line in said if "not captured" in line] == [
        "workbench capture: a call is not captured: RuntimeError: not now"
    ]


def test_a_call_that_is_too_large_is_left_out(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with capture(folder):
        assert asked("x" * (outlet.LONGEST_CALL // 2)) == "fine"
        assert asked("Why?") == "fine"
    (path,) = folder.iterdir()
    assert [one.name for one in store.load(path).cases] == ["Why?"]
    assert "a call of more than 16 MB is not captured" in capfd.readouterr().err


def test_an_error_of_the_program_stays_its_own(folder: Path) -> None:
    class OwnError(Exception):
        pass

    def fail(text: str) -> str:
        raise OwnError("mine")

    with capture(folder), dspy.context(lm=Scripted(fail)), pytest.raises(OwnError, match="mine"):
        asked("Why?")
    (path,) = folder.iterdir()
    (case,) = store.load(path).cases
    assert "OwnError: mine" in str(case.recordings["chat"].attempts[0].error)


def test_the_programs_own_callbacks_are_called_as_before(folder: Path) -> None:
    seen: list[str] = []

    class Own(dspy.utils.callback.BaseCallback):  # type: ignore[misc]
        def on_lm_end(self, call_id: str, outputs: Any, exception: Any = None) -> None:
            seen.append(outputs[0])

    own = Own()
    with dspy.context(callbacks=[own]):
        with capture(folder):
            asked("within")
            assert dspy.settings.callbacks == [own]
        asked("after")
    assert seen == [chat(answer="fine")] * 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("is_first", [False, True])
def test_calls_of_a_process_that_is_forked_off_and_left_are_captured(is_first: bool, folder: Path) -> None:
    with capture(folder):
        if not is_first:
            asked("in the parent")
        forked = os.fork()
        if forked == 0:
            try:
                asked("in the fork")
            finally:
                os._exit(0)
        assert os.waitpid(forked, 0)[1] == 0
        asked("in the parent")
    (path,) = folder.iterdir()
    assert {one.name for one in store.load(path).cases} == {"in the parent", "in the fork"}


def test_a_capture_that_has_ended_does_not_hinder_a_fork(folder: Path) -> None:
    with capture(folder) as ended:
        asked("before")
    ended.outlet.forget()
    ended.outlet.close()


@pytest.mark.parametrize(
    "file",
    [*sorted(STANDS_ALONE.glob("*.py")), STANDS_ALONE.parent / "startup" / "sitecustomize.py"],
    ids=lambda f: f.name,
)
def test_what_runs_in_the_program_is_python_3_9_and_imports_the_standard_library_alone(file: Path) -> None:
    tree = ast.parse(file.read_text(encoding="utf-8"), feature_version=(3, 9))
    imported = {one.name for node in ast.walk(tree) if isinstance(node, ast.Import) for one in node.names}
    imported |= {str(one.module) for one in ast.walk(tree) if isinstance(one, ast.ImportFrom) and one.level == 0}
    assert {one.partition(".")[0] for one in imported} - set(sys.stdlib_module_names) == set()
