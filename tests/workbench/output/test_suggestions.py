from __future__ import annotations

from workbench.output.exit_codes import nearest, no_such


def test_a_slip_finds_its_name_whatever_the_case() -> None:
    assert nearest("JSNO", ["chat", "json", "xml"]) == "json"
    assert nearest("questoin", ["question", "context"]) == "question"


def test_nothing_like_it_finds_nothing() -> None:
    assert nearest("zebra", ["chat", "json"]) is None


def test_the_sentence_names_what_there_is() -> None:
    assert no_such("column", "jsno", ["chat", "json"]) == "no column 'jsno'; did you mean 'json'? There are: chat, json"
    assert no_such("case", "x", []) == "no case 'x'. There are: none"
