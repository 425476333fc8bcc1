"""The survival grid: the good replies that are broken, and the four verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from adapters.formats import catalog
from adapters.mutations import CATALOGUE
from adapters.mutations.mutation import Broken, Mutation
from adapters.replies.forms import FORMS, Object
from sessions import examples
from sessions.model.replies import Reply
from sessions.model.session import Case, Column, Demo, Session, SignatureText
from sessions.running import recording
from sessions.stress import grid
from sessions.stress.grid import Cell, NoGoodReplyError, Survival
from tests.support import pace
from tests.support.hostile import HOSTILE

CHAT = "[[ ## answer ## ]]\nParis\n\n[[ ## score ## ]]\n0.9\n\n[[ ## completed ## ]]\n"


def session_of(
    signature: str = "question -> answer, score: float",
    replies: Mapping[str, str] | None = None,
    demos: tuple[Mapping[str, Any], ...] = (),
) -> Session:
    columns = tuple([Column(name, name) for name in catalog.NAMES])
    shown = {id: Reply(text) for id, text in (replies or {}).items()}
    case = Case("case 1", {"question": "Where?"}, replies=shown)
    return Session(SignatureText(signature), tuple([Demo(one) for one in demos]), columns, (case,))


def survival(session: Session, adapter: str) -> Survival:
    return grid.survival(session, session.cases[0], adapter, Column(adapter, adapter))


def cell(session: Session, adapter: str, mutation: str) -> Cell:
    return survival(session, adapter).cells[mutation]


# Where good replies come from


def test_the_reply_under_a_column_is_broken_first_and_as_it_stands() -> None:
    found = survival(session_of(replies={"chat": f"Sure!\n{CHAT}"}), "chat").good
    assert found is not None
    assert (found.text, found.source) == (f"Sure!\n{CHAT}", "the reply under chat")


def test_another_columns_reply_is_written_anew_so_that_all_adapters_are_broken_with_the_same_values() -> None:
    session = session_of(replies={"chat": CHAT}, demos=({"question": "?", "answer": "Rome", "score": 0.1},))
    for adapter in catalog.NAMES:
        good = survival(session, adapter).good
        assert good is not None
        assert good.values == {"answer": "Paris", "score": 0.9}, adapter


def test_a_reply_that_does_not_parse_is_no_good_one() -> None:
    demo = {"question": "?", "answer": "Rome", "score": 0.1}
    good = survival(session_of(replies={"chat": "no idea"}, demos=({"question": "?"}, demo)), "chat").good
    assert good is not None and good.source == "demo 2"
    assert good.passed_over == ("the reply under chat does not parse",)


def test_without_reply_and_demo_the_offline_model_answers() -> None:
    good = survival(session_of(), "json").good
    assert good is not None and good.source == "the answer of offline/exact"


def test_a_recorded_reply_comes_before_the_reply_on_screen() -> None:
    session = session_of(replies={"chat": CHAT})
    session = recording.record(session, session.cases[0], session.columns[0])
    case = replace(session.cases[0], replies={"chat": Reply(CHAT.replace("Paris", "Rome"))})
    good = survival(session.replace_case(case), "chat").good
    assert good is not None
    assert (good.source, good.values["answer"]) == ("the recorded reply of chat", "Paris")


def test_of_two_step_the_second_models_reply_is_broken_as_chat_reads_it() -> None:
    chat, two_step = [survival(session_of(replies={"chat": CHAT}), name) for name in ("chat", "twostep")]
    assert {name: one.verdict for name, one in chat.cells.items()} == {
        name: one.verdict for name, one in two_step.cells.items()
    }


def test_where_no_prompt_can_be_made_the_column_says_why_and_has_no_cells() -> None:
    session = examples.load("invoice")
    found = grid.survival(session, session.cases[0], "baml", Column("baml", "baml"))
    assert "no prompt can be made: ValueError: BAMLAdapter cannot handle recursive" in found.problem
    assert not found.cells and set(found.counts.values()) == {0}


def test_the_columns_are_every_adapter_with_the_options_and_replies_of_the_sessions_first_such_column() -> None:
    mine = Column("strict", "markdown", {"allow_extra_keys": True})
    case = Case("case 1", {"question": "Where?"}, replies={"mine": Reply(CHAT)})
    session = replace(session_of(), columns=(Column("mine", "chat"), Column("other", "chat"), mine), cases=(case,))
    columns = grid.every_adapter(session)
    assert list(columns) == list(catalog.NAMES)
    assert (columns["markdown"], columns["chat"].id) == (mine, "mine")
    found = grid.grid_of(session, case, columns)
    assert [one.id for one in found.columns] == list(catalog.NAMES)
    assert found.columns[0].good is not None and found.columns[0].good.source == "the reply under mine"
    assert found.columns[5].cells["a field too many"].verdict == "same"


def test_an_adapter_that_is_code_is_imported_only_where_that_was_asked_for() -> None:
    session = session_of(replies={"chat": CHAT})
    found = grid.grid_of(session, session.cases[0], {"mine": Column("mine", "user_adapters:LoudChat")})
    assert "is Python code, which a session may not load by itself" in found.columns[0].problem
    assert found.mutations == ()


# The fields of a good reply in the adapter's own writing


@pytest.mark.parametrize("adapter", catalog.NAMES)
@pytest.mark.parametrize("example", examples.ALL)
def test_the_fields_written_together_are_the_same_answer(example: str, adapter: str) -> None:
    if (example, adapter) == ("invoice", "baml"):
        return  # there is no prompt, see above
    session = examples.load(example)
    good = grid.find(session, session.cases[0], Column(adapter, adapter), catalog.make(adapter))
    assert [one.name for one in good.fields] == list(good.signature.output_fields)
    written = good.write(good.fields)
    assert written is not None
    assert not grid.different(good.parser.read(good.signature, written).values, good.values)


def test_a_form_that_is_not_known_is_only_changed_as_text() -> None:
    assert set(FORMS) == {"markers", "xml", "json", "fenced json"}
    assert FORMS["fenced json"] == Object(fenced=True)


# The verdicts


def test_the_values_that_were_meant_are_the_same_whatever_is_said_of_them() -> None:
    found = cell(session_of(replies={"chat": CHAT}), "json", "fenced")
    assert found.verdict == "same" and not found.wrong
    assert "fence-dropped" in [flag.name for flag in found.reading.flags]


def test_an_error_is_refused() -> None:
    assert cell(session_of(replies={"chat": CHAT}), "xml", "a thought without its opening").verdict == "refused"


def test_another_value_of_which_something_is_said_is_flagged() -> None:
    found = cell(session_of(replies={"chat": CHAT}), "chat", "a draft within the thought")
    assert found.verdict == "flagged" and found.wrong == ("answer",)
    assert "marker-inside-think" in [flag.name for flag in found.flags]


def test_another_value_of_which_nothing_is_said_is_silently_wrong() -> None:
    found = cell(session_of(replies={"chat": CHAT}), "chat", "texts in bold")
    assert (found.verdict, found.wrong, found.flags) == ("silently_wrong", ("answer",), ())
    assert found.reading.values["answer"] == "**Paris**"


def test_what_is_cut_off_is_judged_by_what_the_whole_reply_says() -> None:
    text = "The capital of France is Paris, and has been so for a long time."
    reply = f"[[ ## answer ## ]]\n{text}"
    session = session_of("question -> answer", {"chat": reply})
    found = cell(session, "chat", "cut off after 6/8")
    assert found.wrong == ("answer",) and found.meant["answer"] == text
    # The good reply has no end marker either, so its absence tells nothing.
    assert found.verdict == "silently_wrong"
    ended = session_of("question -> answer", {"chat": f"{reply}\n\n[[ ## completed ## ]]\n"})
    assert cell(ended, "chat", "cut off after 4/8").verdict == "flagged"


def test_what_a_mutation_puts_into_a_text_is_meant() -> None:
    found = cell(session_of(replies={"chat": CHAT}), "chat", "an ampersand in a text")
    assert found.verdict == "same" and found.reading.values["answer"] == "Paris R&D"


def test_a_flag_about_a_field_that_is_right_does_not_tell_of_one_that_is_wrong() -> None:
    """1_0 is an unusual number, which is said of the score; that does not tell that the answer is in bold."""
    good = survival(session_of(replies={"chat": CHAT}), "chat").good
    assert good is not None
    in_bold = CHAT.replace("Paris", "**Paris**").replace("0.9", "1_0")
    meant = {"answer": "Paris", "score": 10.0}
    found = grid.judged(good, Mutation("both", "two habits at once", lambda _: Broken(in_bold, meant)))
    assert found is not None
    assert [(flag.name, flag.field) for flag in found.reading.flags] == [("python-literal", "score")]
    assert (found.verdict, found.wrong, found.flags) == ("silently_wrong", ("answer",), ())


def test_counts_are_those_of_the_cells() -> None:
    found = survival(session_of(replies={"chat": CHAT}), "xml")
    assert sum(found.counts.values()) == len(found.cells)
    assert list(found.counts) == ["silently_wrong", "flagged", "refused", "same"]
    for verdict, count in found.counts.items():
        assert count == sum(one.verdict == verdict for one in found.cells.values())


def test_the_grid_has_the_mutations_that_apply_to_any_column_and_the_worst_first() -> None:
    session = session_of(replies={"chat": CHAT})
    columns = {name: Column(name, name) for name in ("chat", "json")}
    found = grid.grid_of(session, session.cases[0], columns)
    names = [one.name for one in found.mutations]
    assert names == [name for name in CATALOGUE if name in names]
    assert "CDATA" not in names and "CDATA" not in found.columns[0].cells
    widths = [len(columns) for _, columns in found.silently_wrong()]
    assert widths == sorted(widths, reverse=True) and widths[0] == 2


# Replies of any content and length


@pytest.mark.parametrize("adapter", catalog.NAMES)
@pytest.mark.parametrize("name", [name for name, text in HOSTILE.items() if len(text) < 1_000])
def test_texts_that_break_screens_are_broken_like_others(name: str, adapter: str) -> None:
    demo = {"question": "?", "answer": f"a {HOSTILE[name]} z", "score": 0.5}
    session = session_of(demos=(demo,))
    found = survival(session, adapter)
    assert found.cells, found.problem
    assert {one.verdict for one in found.cells.values()} <= {"same", "refused", "flagged", "silently_wrong"}


def test_a_reply_of_ten_megabytes_is_not_broken_and_said_so() -> None:
    big = CHAT.replace("Paris", "Paris " * 1_700_000)
    found = survival(session_of(replies={"chat": big}), "chat")
    assert found.good is not None and found.good.source == "the answer of offline/exact"


def test_where_nothing_short_enough_is_found_it_is_said_what_was_tried() -> None:
    """The offline model copies the answer of a demo whose inputs are those of the case."""
    demo = {"question": "Where?", "answer": "x" * 10_000_000, "score": 0.5}
    session = session_of(demos=(demo,))
    with pytest.raises(NoGoodReplyError, match=r"demo 1 has 10,000,0\d\d characters, of at most 50,000"):
        grid.find(session, session.cases[0], Column("chat", "chat"), catalog.make("chat"))


ODD: dict[str, tuple[str, Any]] = {
    "no number": ("float", float("nan")),
    "endless": ("float", float("inf")),
    "a number of 300 digits": ("int", 10**300),
    "nothing": ("Optional[int]", None),
    "an empty text": ("str", ""),
    "a text of spaces": ("str", "   "),
    "an empty list": ("list[str]", []),
    "an empty object": ("dict[str, int]", {}),
    "keys of any kind": ("dict[str, str]", {"a b": "1", "": "2", "<x>": "3", '"': "4", "\n": "5"}),
    "lists in lists": ("list[list[int]]", [[1], [], [2, 3]]),
    "anything": ("Any", {"a": [1, None, True, "x", 1.5]}),
    "one of two kinds": ("Union[int, str]", "12"),
    "bytes": ("bytes", "text"),
    "a tuple": ("tuple[int, str]", [1, "a"]),
    "a set": ("set[int]", [1, 2]),
    "code": ("dspy.Code", "x = 1"),
}


@pytest.mark.parametrize("adapter", catalog.NAMES)
@pytest.mark.parametrize("name", ODD)
def test_values_of_every_kind_are_broken(name: str, adapter: str) -> None:
    annotation, value = ODD[name]
    signature = f"question -> answer: {annotation}, score: float"
    found = survival(session_of(signature, demos=({"question": "?", "answer": value, "score": 0.5},)), adapter)
    assert found.cells or found.problem
    for one in found.cells.values():
        assert (one.verdict == "refused") == (one.reading.error is not None)
        assert bool(one.wrong) == (one.verdict in ("flagged", "silently_wrong"))


def test_a_value_that_is_nested_deeply_is_left_as_it_is() -> None:
    deep: Any = "end"
    for _ in range(100):
        deep = [deep]
    found = survival(session_of("question -> answer: list", demos=({"question": "?", "answer": deep},)), "json")
    assert found.good is not None and found.good.fields == ()
    assert "cut off after 1/8" in found.cells and "in another order" not in found.cells


def test_the_whole_grid_costs_less_than_a_second() -> None:
    session = examples.load("question")
    columns = grid.every_adapter(session)
    made = grid.grid_of(session, session.cases[0], columns)
    assert sum(len(one.cells) for one in made.columns) >= 40 * 6

    cost = pace.loops(lambda: grid.grid_of(session, session.cases[0], columns))
    assert cost <= pace.LOOPS_A_SECOND
