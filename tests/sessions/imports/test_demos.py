"""Demos from tables and JSON: typed by their fields, nothing dropped, and errors that name row and column."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sessions.errors import SessionError
from sessions.file import store
from sessions.imports import sources
from sessions.imports.reading import KEPT, Imported
from sessions.model.session import SignatureText

GIVEN = SignatureText("note, tags: list[str] -> total: float, paid: bool, due: Optional[int]")


def load(folder: Path, name: str, content: str | bytes, given: SignatureText | None = GIVEN) -> Imported:
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    (folder / name).write_bytes(data)
    return sources.load(str(folder / name), given=given)


def rows(imported: Imported) -> list[dict[str, object]]:
    return [dict(one.values) for one in imported.session.demos]


def test_cells_take_the_type_of_their_field(tmp_path: Path) -> None:
    made = load(
        tmp_path, "x.csv", 'note,tags,total,paid,due\n012,"[""a"", ""b""]",12,TRUE,\n"two\nlines",[],1e3,false,3\n'
    )
    assert rows(made) == [
        {"note": "012", "tags": ["a", "b"], "total": 12, "paid": True, "due": None},
        {"note": "two\nlines", "tags": [], "total": 1000.0, "paid": False, "due": 3},
    ]
    assert made.questions == () and not made.has_signature


def test_an_empty_cell_is_an_empty_text_or_a_missing_value(tmp_path: Path) -> None:
    made = load(tmp_path, "x.csv", "note,total\n,\n")
    assert rows(made) == [{"note": ""}]
    assert "`total` is missing in 1 of 1 demo" in made.notes


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_byte_order_mark_delimiter_line_breaks_and_empty_lines_do_not_matter(tmp_path: Path, delimiter: str) -> None:
    lines = ["note,total", "a,1", "", "b,2", ""]
    text = "\ufeff" + "\r\n".join(lines).replace(",", delimiter)
    assert rows(load(tmp_path, "x.csv", text)) == [{"note": "a", "total": 1}, {"note": "b", "total": 2}]


def test_a_wrong_cell_is_named_by_row_line_and_column(tmp_path: Path) -> None:
    with pytest.raises(SessionError) as caught:
        load(tmp_path, "x.csv", 'note,total\n"a\nb",1\nc,high\n')
    assert caught.value.place == "row 2 (line 4), column 'total'"
    assert caught.value.message == "'high' is not of type float"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("note,total\na,1,2\n", r"row 1 \(line 2\): 3 cells under 2 columns"),
        ("note,total\na\n", r"row 1 \(line 2\): 1 cells under 2 columns"),
        ('note,total\n"a,1\n', "the quotes do not match"),
        ('note,total\n"a"b,1\n', "the quotes do not match"),
        ("note,note\na,b\n", "appears twice"),
        ("note,\na,b\n", "column 2 has no name"),
        ("", "no row"),
        ("note,total\n", "no row"),
        ("x,y\n1,2\n", "none of its columns is a field.*the signature has `note`"),
    ],
)
def test_a_broken_table_says_where(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(SessionError, match=said):
        load(tmp_path, "x.csv", text)


def test_other_columns_are_kept_and_missing_ones_told(tmp_path: Path) -> None:
    made = load(tmp_path, "x.csv", "note,id,totel\na,7,1\n")
    assert made.session.demos[0].extra == {KEPT: {"id": "7", "totel": "1"}}
    assert any("is 'totel' meant as 'total'?" in one for one in made.notes)
    assert any("`total` is missing" in one for one in made.notes)
    assert store.loads(store.dumps(made.session)) == made.session


def test_a_header_that_is_nearly_a_field_is_asked(tmp_path: Path) -> None:
    made = load(tmp_path, "x.csv", "Note,Total\na,1\n")
    assert rows(made) == [{"note": "a", "total": 1}]
    assert made.questions == (
        "column 'Note' is taken as the field `note`",
        "column 'Total' is taken as the field `total`",
    )


def test_a_very_long_cell_is_read(tmp_path: Path) -> None:
    assert rows(load(tmp_path, "x.csv", f"note,total\n{'x' * 1_000_000},1\n"))[0]["note"] == "x" * 1_000_000


@pytest.mark.slow
def test_a_hundred_thousand_rows_are_read_and_the_wrong_one_is_found(tmp_path: Path) -> None:
    lines = [f"note {number},{number}" for number in range(100_000)]
    made = load(tmp_path, "x.csv", "note,total\n" + "\n".join(lines))
    assert len(made.session.demos) == 100_000
    lines[77_777] = "note,?"
    with pytest.raises(SessionError, match=r"row 77,?778 \(line 77779\), column 'total'"):
        load(tmp_path, "y.csv", "note,total\n" + "\n".join(lines))


def test_json_and_json_lines_keep_their_values_as_they_are(tmp_path: Path) -> None:
    demos = [{"note": "a", "tags": ["x"], "total": 1.0, "$lines": 3}, {"note": "\ud800", "total": "high"}]
    as_list = load(tmp_path, "x.json", json.dumps(demos))
    as_lines = load(tmp_path, "x.jsonl", "\n\n".join(map(json.dumps, demos)) + "\n")
    assert (
        rows(as_list)
        == rows(as_lines)
        == [
            {"note": "a", "tags": ["x"], "total": 1.0},
            {"note": "\ud800", "total": "high"},
        ]
    )
    assert as_list.session.demos[0].extra == {KEPT: {"$lines": 3}}
    assert "row 2: the value of `total` is not of type float; it is kept as it is" in as_list.notes
    assert as_lines.notes[-1] == "row 2 (line 3): the value of `total` is not of type float; it is kept as it is"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("x.jsonl", '{"note": "a"}\n{"note": \n', r"row 2 \(line 2\)"),
        ("x.jsonl", '{"note": "a"}\n[]\n', r"row 2 \(line 2\): expected an object of field values, got a list"),
        (
            "x.jsonl",
            '{"note": "a"}\n[]\n{broken\n',
            r"row 2 \(line 2\): expected an object of field values, got a list",
        ),
        ("x.json", '[{"note": "a"}, 3]', "row 2: expected an object of field values, got a number"),
        ("x.json", '[{"note": "a", "note": "b"}]', "'note' appears twice"),
        ("x.json", '[{"note": "a",}]', "line 1, column"),
        ("x.json", "[" * 100_000, "nested too deep"),
        ("x.json", '[{"note": ' + "[" * 200 + "]" * 200 + "}]", "nested too deep"),
        ("x.json", '[{"note": ' + "9" * 10_000 + "}]", "digits"),
        ("x.json", b'[{"note": "\xff"}]', "line 1: not UTF-8"),
        ("x.json", "3", "a number of an unknown kind.*--as"),
    ],
)
def test_broken_json_says_where(tmp_path: Path, name: str, text: str | bytes, said: str) -> None:
    with pytest.raises(SessionError, match=said):
        load(tmp_path, name, text)


def test_without_a_signature_one_is_proposed_and_asked(tmp_path: Path) -> None:
    made = load(
        tmp_path, "x.json", '[{"note": "a", "tags": ["x"], "total": 1}, {"note": "b", "total": 1.5}]', given=None
    )
    fields = made.session.signature.read().fields
    assert {name: (one.role, one.annotation) for name, one in fields.items()} == {
        "note": ("input", str),
        "tags": ("input", list[str]),
        "total": ("output", float),
    }
    assert made.questions == ("no signature was given: `note`, `tags` are taken as inputs, `total` as the output",)


def test_a_file_that_is_not_there_or_a_session_is_told(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match="there is no such file"):
        sources.load(str(tmp_path / "no.csv"))
    with pytest.raises(SessionError, match="this is a folder"):
        sources.load(str(tmp_path))
    with pytest.raises(SessionError, match="a session already"):
        load(tmp_path, "s.json", '{"format": 1, "signature": {}}')
