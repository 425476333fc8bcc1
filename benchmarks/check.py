"""`check` of 1,000 fixtures × 5 adapters against dspy: `python benchmarks/check.py`.

The dspy script renders and parses the same and compares nothing. Bars: at least 3 × faster than dspy, and memory that
does not grow with the number of fixtures. Each fixture has five outputs, two demos and a reply of 1 kB in each of the
five formats. Both sides take turns over the same files, and the medians of processor time are compared.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1])]

import dspy  # noqa: E402
from dspy.adapters.baml_adapter import BAMLAdapter  # noqa: E402

from benchmarks.measure import Ratio  # noqa: E402
from sessions.file import store  # noqa: E402
from sessions.model.replies import Extraction, Reply  # noqa: E402
from sessions.model.session import Case, Column, Demo, Session, SignatureText  # noqa: E402
from sessions.running import recording  # noqa: E402
from workbench.checks.checking import Plan, check_all  # noqa: E402

FIXTURES = 1_000
ROUNDS = 3
KINDS = (
    ("20 signatures", 20, 20),
    ("1,000 with instructions of their own", FIXTURES, 1),
    ("1,000 with fields of their own", FIXTURES, FIXTURES),
)
"""What is printed, how many instructions and sets of field names there are."""
COMMAND = """
import sys
from workbench.__main__ import main  # noqa: E402
code = main()
status = open("/proc/self/status").read()
print(status.split("VmHWM:")[1].split()[0], file=sys.stderr)
"""
OUTPUTS = "summary: str, count: int, score: float, sure: bool, tags: list[str]"
COLUMNS = tuple([Column(name, name) for name in ("chat", "json", "xml", "baml", "twostep")])
ADAPTERS = (
    dspy.ChatAdapter(),
    dspy.JSONAdapter(),
    dspy.XMLAdapter(),
    BAMLAdapter(),
    dspy.TwoStepAdapter(dspy.LM("x/y")),
)


def replies(number: int) -> dict[str, str]:
    words = f"invoice {number} is paid in three parts "
    values = {"summary": words * 25, "count": 3, "score": 0.5, "sure": True, "tags": ["paid", "parts"]}
    texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in values.items()}
    chat = "\n\n".join(f"[[ ## {key} ## ]]\n{text}" for key, text in texts.items()) + "\n\n[[ ## completed ## ]]"
    items = "<tags><item>paid</item><item>parts</item></tags>"
    xml = "\n".join(items if key == "tags" else f"<{key}>{text}</{key}>" for key, text in texts.items())
    return {"chat": chat, "json": json.dumps(values), "xml": xml, "baml": json.dumps(values), "twostep": words * 25}


def write(folder: Path, instructions: int, names: int) -> list[Path]:
    """The fixtures as session files, recorded from pasted replies: how many instructions, and sets of field names."""
    paths: list[Path] = []
    for number in range(FIXTURES):
        context = f"context_{number % names}"
        outputs = {"summary": "s", "score": 1.5, "tags": []}
        demos = [{"question": f"q{n}", context: ["note " * 60], **outputs, "count": n, "sure": n > 0} for n in (0, 1)]
        texts = replies(number)
        shown = {id: Reply(text, source="pasted") for id, text in texts.items()}
        shown["twostep"] = replace(shown["twostep"], extraction=Extraction("chat", texts["chat"]))
        case = Case("case", {"question": f"Who pays {number}?", context: ["context " * 40]}, replies=shown)
        notation = f"question, {context}: list[str] -> {OUTPUTS}"
        text = SignatureText(notation, instructions=f"Answer rule {number % instructions}.")
        session = Session(text, tuple(map(Demo, demos)), COLUMNS, (case,))
        for column in COLUMNS:
            session = recording.record(session, session.cases[0], column)
        paths.append(folder / f"{number}.json")
        store.save(session, paths[-1])
    return paths


def ours(paths: list[Path]) -> int:
    return sum(result.passed for checked in check_all(paths, Plan(), 1) for result in checked.results)


def theirs(paths: list[Path]) -> int:
    """The same with dspy: every prompt rendered and every reply parsed; nothing is compared."""
    signatures: dict[tuple[str, str], Any] = {}
    done = 0
    for path in paths:
        data = json.loads(path.read_text())
        text, instructions = (text_of(data["signature"][key]) for key in ("text", "instructions"))
        if (text, instructions) not in signatures:
            signatures[text, instructions] = dspy.Signature(text, instructions)
        signature = signatures[text, instructions]
        demos = [demo["values"] for demo in data["demos"]]
        (case,) = data["cases"]
        for column, adapter in zip(COLUMNS, ADAPTERS, strict=True):
            adapter.format(signature, demos, case["inputs"])
            reply = case["replies"][column.id]
            if column.id == "twostep":
                adapter, reply = ADAPTERS[0], reply["extraction"]
            adapter.parse(signature, text_of(reply["text"]))
            done += 1
    return done


def text_of(written: Any) -> str:
    """A text of a session file, where it may be a list of lines, which may be in pieces."""
    if isinstance(written, str):
        return written
    ((tag, parts),) = [("$lines", written)] if isinstance(written, list) else written.items()
    return ("\n" if tag == "$lines" else "").join(map(text_of, parts))


def seconds(run: Callable[[list[Path]], int], paths: list[Path]) -> float:
    """Processor time of one pass in a child process, which knows nothing of the passes before."""
    child = os.fork()
    if child == 0:
        os._exit(run(paths) != len(paths) * len(COLUMNS))
    _, status, used = os.wait4(child, 0)
    assert status == 0
    return used.ru_utime + used.ru_stime


def megabytes(paths: list[Path]) -> float:
    """The most memory that `workbench check` of these files ever holds, in a process of its own."""
    with subprocess.Popen(
        [sys.executable, "-c", COMMAND, "check", *map(str, paths)],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        _, said = child.communicate()
    return int(said.split()[-1]) / 1024


def main() -> None:
    for said, instructions, names in KINDS:
        with tempfile.TemporaryDirectory() as folder:
            paths = write(Path(folder), instructions, names)
            ours(paths[:20])
            theirs(paths[:20])
            pairs = [(seconds(theirs, paths), seconds(ours, paths)) for _ in range(ROUNDS)]
            dspys, mine = (statistics.median(times) for times in zip(*pairs, strict=True))
            print(Ratio(f"check of {FIXTURES:,} × 5 over {said}", dspys, mine, 3.0))
            few, many = megabytes(paths[:100]), megabytes(paths)
            more = megabytes(_copies(paths, 3))
            print(f"     memory of the command: {few:.0f} MB for 100 files, {many:.0f} for 1,000, {more:.0f} for 3,000")


def _copies(paths: list[Path], times: int) -> list[Path]:
    """The files with copies of them beside them, under other names."""
    for number in range(1, times):
        for path in paths:
            shutil.copy(path, path.with_name(f"{number}-{path.name}"))
    return sorted(paths[0].parent.iterdir())


if __name__ == "__main__":
    main()
