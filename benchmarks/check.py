"""`check` of 1,000 fixtures × 5 adapters against dspy: `python benchmarks/check.py`.

The dspy script renders and parses the same and compares nothing. Bars (DESIGN 6 of the project's documents), on one
core: at most 2 s over 20 signatures and 4 s when all differ, at least 3 × faster than dspy. Each fixture has five
outputs, two demos and a reply of 1 kB in each of the five formats.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parent)]

import dspy  # noqa: E402
from dspy.adapters.baml_adapter import BAMLAdapter  # noqa: E402
from measure import Ratio  # noqa: E402

from sessions import fixtures, recording, store  # noqa: E402
from sessions.session import Case, Column, Demo, Session, SignatureText  # noqa: E402

FIXTURES = 1_000
TEXT = "question, context -> summary: str, count: int, score: float, sure: bool, tags: list[str]"
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


def write(folder: Path, signatures: int) -> list[Path]:
    """The fixtures as session files, recorded from pasted replies."""
    demos = [
        {
            "question": f"q{n}",
            "context": "note " * 60,
            "summary": "s",
            "count": n,
            "score": 1.5,
            "sure": n > 0,
            "tags": [],
        }
        for n in (0, 1)
    ]
    paths: list[Path] = []
    for number in range(FIXTURES):
        texts = replies(number)
        shown: dict[str, dict[str, Any]] = {id: {"text": text, "source": "pasted"} for id, text in texts.items()}
        shown["twostep"]["extraction"] = {"adapter": "chat", "text": texts["chat"]}
        case = Case("case", {"question": f"Who pays {number}?", "context": "context " * 40}, replies=shown)
        text = SignatureText(TEXT, instructions=f"Answer rule {number % signatures}.")
        session = Session(text, tuple(map(Demo, demos)), COLUMNS, (case,))
        for column in COLUMNS:
            session = recording.record(session, session.cases[0], column)
        paths.append(folder / f"{number}.json")
        store.save(session, paths[-1])
    return paths


def ours(paths: list[Path]) -> int:
    return sum(result.passed for path in paths for result in fixtures.each(store.load(path), str(path)))


def theirs(paths: list[Path]) -> int:
    """The same with dspy: every prompt rendered and every reply parsed; nothing is compared."""
    signatures: dict[str, Any] = {}
    done = 0
    for path in paths:
        data = json.loads(path.read_text())
        instructions = "\n".join(data["signature"]["instructions"])
        if instructions not in signatures:
            signatures[instructions] = dspy.Signature(TEXT, instructions)
        signature = signatures[instructions]
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
    """A text of a session file, which may stand there in lines and pieces."""
    if isinstance(written, str):
        return written
    ((tag, parts),) = written.items()
    return ("\n" if tag == "$lines" else "").join(map(text_of, parts))


def seconds(run: Callable[[list[Path]], int], paths: list[Path]) -> float:
    start = time.process_time()
    assert run(paths) == len(paths) * len(COLUMNS)
    return time.process_time() - start


def main() -> None:
    for signatures, limit in ((20, 2.0), (FIXTURES, 4.0)):
        with tempfile.TemporaryDirectory() as folder:
            paths = write(Path(folder), signatures)
            ours(paths[:20])
            theirs(paths[:20])
            mine, dspys = min(seconds(ours, paths) for _ in range(3)), seconds(theirs, paths)
        print(Ratio(f"check of {FIXTURES:,} × 5 over {signatures:,} signatures", dspys, mine, 3.0))
        print(f"{'ok  ' if mine <= limit else 'SLOW'} {mine:.2f} s of processor time (bar {limit:g} s)")


if __name__ == "__main__":
    main()
