"""Rows as cases: inputs, expectations where outputs stand, names of their own; whatever a spreadsheet writes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sessions.errors import SessionError
from sessions.imports import merging, sources
from sessions.imports.reading import KEPT
from sessions.model.session import Case, Session, SignatureText

GIVEN = SignatureText("question, context: list[str] -> answer, score: float")
TABLE = 'case;question;context;answer;score\nrainy;Is it raining?;"[""It pours.""]";yes;0.5\nsunny;Sun?;[];;\n'


@pytest.mark.parametrize(
    "content",
    [
        TABLE.encode(),
        TABLE.encode("utf-16"),
        b"\xef\xbb\xbf" + TABLE.encode(),
        ("sep=;\n" + TABLE).encode(),
        ("sep=;\r\n" + TABLE.replace("\n", "\r\n")).encode("utf-16"),
        TABLE.replace(";", "\t").encode(),
    ],
    ids=["utf-8", "utf-16", "mark", "sep", "excel", "tabs"],
)
def test_a_table_is_cases_whatever_the_spreadsheet_made_of_it(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "eval.csv").write_bytes(content)
    made = sources.load(str(tmp_path / "eval.csv"), "cases", GIVEN)
    assert made.questions == () and made.session.demos == ()
    rainy, sunny = made.session.cases
    assert rainy.name == "rainy" and rainy.inputs == {"question": "Is it raining?", "context": ["It pours."]}
    assert rainy.expect == {"fields": {"answer": {"equals": "yes"}, "score": {"equals": 0.5}}}
    assert sunny.name == "sunny" and "score" not in sunny.expect.get("fields", {})


def test_json_and_json_lines_are_cases_too_and_nothing_of_a_row_is_lost(tmp_path: Path) -> None:
    rows = [{"question": "a", "answer": "b", "source": "mail", "id": 7}, {"question": "c"}, {"question": "d", "id": 7}]
    (tmp_path / "eval.json").write_text(json.dumps(rows))
    (tmp_path / "eval.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for name in ("eval.json", "eval.jsonl"):
        cases = sources.load(str(tmp_path / name), "cases", GIVEN).session.cases
        assert [one.name for one in cases] == ["7", "eval 2", "7 (2)"]
        assert cases[0].extra == {KEPT: {"source": "mail"}}
        assert [bool(one.expect) for one in cases] == [True, False, False]


def test_rows_leave_alone_the_cases_that_they_do_not_name(tmp_path: Path) -> None:
    (tmp_path / "eval.csv").write_text(TABLE)
    imported = sources.load(str(tmp_path / "eval.csv"), "cases", GIVEN)
    too_long_for_json = Case("other", inputs={"question": 10**5_000})
    merged = merging.merged(Session(GIVEN, cases=(too_long_for_json, Case("sunny"), Case("rainy"))), imported)
    assert merged.session.cases[0] is too_long_for_json
    assert [one.name for one in merged.session.cases] == ["other", "sunny", "rainy"]
    assert merged.session.cases[1].inputs == {"question": "Sun?", "context": []}
    assert "cases already in the session: 2; with other values: 2" in merged.notes


def test_broken_utf_16_is_told(tmp_path: Path) -> None:
    (tmp_path / "eval.csv").write_bytes(b"\xff\xfea")
    with pytest.raises(SessionError, match=r"eval\.csv"):
        sources.load(str(tmp_path / "eval.csv"), "cases", GIVEN)


CLASS = (
    "import dspy\ndef build():\n    class Answer(dspy.Signature):\n        q: str = dspy.InputField()\n        a: str"
)


@pytest.mark.parametrize(("name", "of_class", "kind"), [("qa.py", ":build.Answer", None), ("qa.txt", "", "signature")])
def test_a_signature_may_be_inside_a_function_or_in_a_file_of_any_name(
    tmp_path: Path, name: str, of_class: str, kind: sources.Kind | None
) -> None:
    (tmp_path / name).write_text(CLASS + " = dspy.OutputField()\n")
    assert list(sources.load(f"{tmp_path / name}{of_class}", kind).session.signature.read().fields) == ["q", "a"]
