"""A session is a stranger's file: opening and checking it runs nothing, opens nothing it names, and loads no screen."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from sessions.file import store
from sessions.model.replies import Reply
from sessions.model.session import Case, Column, Demo, Recording, Session, SignatureText

ROOT = Path(__file__).parents[3]


def hostile(canary: Path, signature: SignatureText) -> Session:
    url = canary.as_uri()
    recording = Recording(messages=({"role": "user", "content": url},), request={}, attempts=(), versions={})
    schema = {"$ref": url}
    return Session(
        signature,
        demos=(Demo({"picture": url, "answer": str(canary)}),),
        columns=(Column("chat", "chat"), Column("code", f"{canary}:Adapter"), Column("json", "json", {"path": url})),
        cases=(
            Case(
                "c",
                inputs={"picture": {"url": url}, "file": str(canary), "remote": "http://127.0.0.1:9/x.png"},
                expect={"fields": {"answer": {"schema": schema}}},
                recordings={"chat": recording, "code": recording},
                replies={"chat": Reply("[[ ## answer ## ]]\nx")},
            ),
        ),
        schema=url,
        extra={"include": str(canary)},
    )


PROGRAM = """
import sys
from sessions import examples
from sessions.file import store
from sessions.checking import checking as fixtures, reports
from sessions.running import recording
from sessions.running import rendering

touched = []
def watch(event, arguments):
    if event in ("open", "os.listdir") and "canary" in str(arguments[0]):
        touched.append(arguments[0])
    if event.startswith(("socket.", "urllib.", "os.system", "os.exec", "subprocess.")):
        touched.append(event)
sys.addaudithook(watch)
for path in sys.argv[1:]:
    session = store.load(path)
    results = fixtures.check(session, path)
    assert results and not any(one.passed for one in results), results
    fixtures.update(session)
print(touched, sorted({"textual", "rich", "litellm", "openai", "dspy", "pickle"} & set(sys.modules)))
"""


def test_a_hostile_session_is_checked_without_touching_what_it_names(tmp_path: Path) -> None:
    canary = tmp_path / "canary.py"
    canary.write_text("raise SystemExit('ran')")
    (tmp_path / "sessions").mkdir()
    signatures = [
        SignatureText("picture: dspy.Image, file: dspy.File, remote: dspy.Image -> answer"),
        SignatureText("picture, file -> answer: __import__('os').system('touch canary')"),
        SignatureText(
            "import canary\nclass S(dspy.Signature):\n    a: str = dspy.InputField(default=open('canary.py'))"
        ),
    ]
    paths = [tmp_path / "sessions" / f"{number}.json" for number in range(len(signatures))]
    for path, signature in zip(paths, signatures, strict=True):
        store.save(hostile(canary, signature), path)
    command = [sys.executable, "-c", PROGRAM, *map(str, paths)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    assert done.stdout.strip() == "[] []"
