from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sessions.file import store
from workbench.output import exit_codes

Run = Callable[..., Any]
SOURCE = '''
import dspy
class Label(dspy.Signature):
    """Label it."""
    text: str = dspy.InputField()
    label: str = dspy.OutputField()
class Other(dspy.Signature):
    """Other."""
    a: str = dspy.InputField()
    b: str = dspy.OutputField()
raise SystemExit("never run")
'''


def test_a_source_is_read_and_never_run(run: Run) -> None:
    Path("label.py").write_text(SOURCE)
    done = run("import", "label.py:Label", "-o", "label.json")
    assert done.code == 0, done.err
    assert store.load("label.json").signature.class_name == "Label"
    assert run("render", "label.json").code == 0

    done = run("import", "label.py", "-o", "other.json")
    assert done.code == exit_codes.USAGE
    assert "name one: label.py:Label, label.py:Other" in done.err


def test_demos_go_into_a_session_behind_those_it_has_and_once(rain: str, run: Run) -> None:
    Path("d.csv").write_text('question,context,answer,score\nq1,"[""c""]",yes,1\nq2,[],no,0.5\n')
    done = run("import", "d.csv", "--into", rain)
    assert done.code == 0, done.err
    before = store.load(rain)
    assert [one.values["score"] for one in before.demos] == [1, 0.5]
    again = run("import", "d.csv", "--into", rain)
    assert again.code == 0 and "demos already in the session: 2" in again.err
    assert store.load(rain) == before


def test_a_wrong_cell_changes_nothing_and_names_row_and_column(rain: str, run: Run) -> None:
    before = Path(rain).read_bytes()
    Path("d.csv").write_text("question,score\nq1,high\n")
    done = run("import", "d.csv", "--into", rain)
    assert done.code == exit_codes.USAGE
    assert "row 1 (line 2), column 'score': 'high' is not of type float" in done.err
    assert Path(rain).read_bytes() == before


def test_nothing_is_written_while_a_question_is_open(run: Run) -> None:
    Path("d.json").write_text('[{"text": "Lovely.", "label": "good"}]')
    done = run("import", "d.json", "-o", "s.json")
    assert done.code == exit_codes.USAGE
    assert "? no signature was given: `text` are taken as inputs, `label` as the output" in done.err
    assert "--accept" in done.err and done.out == "text -> label\n"
    assert not Path("s.json").exists()

    assert run("import", "d.json", "-o", "s.json", "--accept").code == 0
    assert run("import", "d.json", "-o", "t.json", "--signature", "text -> label").code == 0
    assert store.load("s.json") == store.load("t.json")


def test_a_dry_run_says_all_and_writes_nothing(run: Run) -> None:
    Path("d.json").write_text('[{"text": "Lovely.", "label": "good"}]')
    done = run("import", "d.json", "--dry-run", "--json")
    assert done.code == 0
    assert done.json == {
        "path": None,
        "written": False,
        "notes": ["1 demo"],
        "questions": ["no signature was given: `text` are taken as inputs, `label` as the output"],
        "guesses": [],
        "signature": {"text": "text -> label", "class": None, "instructions": None},
        "demos": 1,
        "cases": ["case 1"],
        "variants": [],
    }


def test_a_file_that_is_there_is_not_written_over(rain: str, run: Run) -> None:
    Path("d.json").write_text('[{"text": "Lovely.", "label": "good"}]')
    before = Path(rain).read_bytes()
    done = run("import", "d.json", "-o", rain, "--accept")
    assert done.code == exit_codes.USAGE and "--force" in done.err and "--into" in done.err
    assert Path(rain).read_bytes() == before


def test_replacing_the_signature_of_a_session_is_asked_with_what_it_would_leave(rain: str, run: Run) -> None:
    Path("label.py").write_text(SOURCE)
    done = run("import", "label.py:Label", "--into", rain)
    assert done.code == exit_codes.USAGE
    assert "? the signature is replaced; it has no field for `context`, `question`" in done.err


def test_a_source_leaves_a_session_its_predictor_and_its_own_instructions_and_says_so(run: Run) -> None:
    Path("label.py").write_text(SOURCE)
    run("new", "label.py:Label", "-o", "s.json", "--cot", "--instructions", "Label it well.")
    done = run("import", "label.py:Other", "--into", "s.json", "--accept")
    assert done.code == 0, done.err
    signature = store.load("s.json").signature
    assert (signature.class_name, signature.predictor) == ("Other", "ChainOfThought")
    assert signature.instructions == "Label it well."
    assert "the predictor stays ChainOfThought" in done.err
    assert "the session keeps its own instructions instead of the text's" in done.err


def test_cot_makes_a_chain_of_thought_of_whatever_is_imported(run: Run) -> None:
    Path("label.py").write_text(SOURCE)
    assert run("import", "label.py:Label", "-o", "s.json", "--cot").code == 0
    assert list(store.load("s.json").signature.read().output_fields) == ["reasoning", "label"]
    Path("d.csv").write_text("text,reasoning,label\nHi,It greets.,kind\n")
    done = run("import", "d.csv", "-o", "d.json", "--cot", "--signature", "label.py:Label")
    assert done.code == 0, done.err
    assert store.load("d.json").demos[0].values == {"text": "Hi", "reasoning": "It greets.", "label": "kind"}


def test_rows_of_the_same_name_are_the_same_case_whose_recording_stays(rain: str, run: Run) -> None:
    assert run("send", rain, "--save").code == 0
    recordings = store.load(rain).cases[0].recordings
    Path("eval.csv").write_text('case,question,context,answer\ncase 1,Snow?,"[]",no\nother,Hail?,[],yes\n')
    done = run("import", "eval.csv", "--as", "cases", "--into", rain)
    assert done.code == 0, done.err
    assert "cases already in the session: 1; with other values: 1" in done.err
    first, other = store.load(rain).cases
    assert (first.name, first.inputs["question"], other.name) == ("case 1", "Snow?", "other")
    assert first.expect == {"fields": {"answer": {"equals": "no"}}}
    assert first.recordings == recordings
    again = store.load(rain)
    assert run("import", "eval.csv", "--as", "cases", "--into", rain).code == 0
    assert store.load(rain) == again


def test_a_conversation_is_a_case_of_its_own(run: Run) -> None:
    run("new", "history: dspy.History, question -> answer", "-o", "s.json", "--input", "question=Q")
    Path("case 1.json").write_text(
        json.dumps([{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Hi"}])
    )
    done = run("import", "case 1.json", "--into", "s.json")
    assert done.code == 0, done.err
    session = store.load("s.json")
    assert [case.name for case in session.cases] == ["case 1", "case 1 (2)"]
    assert session.cases[1].history == ({"question": "Hello", "answer": "Hi"},)


def test_without_a_target_it_says_how(run: Run) -> None:
    done = run("import", "x.csv")
    assert done.code == exit_codes.USAGE and "-o FILE" in done.err and "--into SESSION" in done.err


def test_control_characters_of_a_file_reach_no_terminal(run: Run) -> None:
    Path("d.json").write_text(json.dumps([{"\x1b[31mtext": "a", "label": "b"}]))
    done = run("import", "d.json", "-o", "s.json")
    assert done.code == exit_codes.USAGE
    assert "\x1b" not in done.err


@pytest.mark.parametrize("words", [["demo.csv"], ["anser.py:Answer"], ["demos.csv", "--signature", "anser.py:Answer"]])
def test_a_file_that_is_not_there_is_answered_with_the_nearest_that_is(words: list[str], run: Run) -> None:
    Path("demos.csv").write_text("q,a\n1,2\n")
    Path("answer.py").write_text("import dspy\n")
    done = run("import", *words, "-o", "q.json")
    assert done.code == exit_codes.USAGE
    meant = "demos.csv" if words == ["demo.csv"] else "answer.py"
    assert f"there is no such file (did you mean {meant}?)" in done.err


def test_a_hidden_file_that_is_not_there_is_not_answered_with_another(run: Run) -> None:
    Path(".gitignore").write_text("*\n")
    assert run("import", ".demos.csv", "-o", "q.json").err.count("did you mean") == 0
    assert "did you mean .gitignore?" in run("import", ".gitinore", "-o", "q.json").err


def test_candidates_of_an_optimiser_become_variants_that_are_compared_as_prompts(rain: str, run: Run) -> None:
    before = store.load(rain)
    seed = before.signature.read().instructions
    data = {"candidates": [{"self": seed}, {"self": "Be brief \x1b[2J[/x]."}, {"self": "Be exact."}]}
    Path("gepa.json").write_text(json.dumps({**data, "val_aggregate_scores": [0.5, 0.75, 0.25]}))
    done = run("import", "gepa.json", "--into", rain, "--dry-run", "--json")
    assert store.load(rain) == before and len(done.json["variants"]) == 2
    done = run("import", "gepa.json", "--into", rain)
    assert done.code == exit_codes.OK, done.err
    assert "gepa-0 has the instructions of the session, score 0.5" in done.err
    assert "scores: gepa-1 0.75, gepa-2 0.25" in done.err and "\x1b" not in done.err
    after = store.load(rain)
    assert [(one.tag, one.score) for one in after.variants] == [("gepa-1", 0.75), ("gepa-2", 0.25)]
    assert after.signature == before.signature and after.demos == before.demos and after.cases == before.cases

    done = run("diff", rain, "--adapter", "chat", "--variant", "gepa-1", "--variant", "gepa-2")
    assert done.code == exit_codes.DIFFERENT and "[chat → chat · gepa-2] 1 section differs" in done.out
    assert "Be exact." in done.out
    assert run("diff", rain, "--variant", "gepa-9").code == exit_codes.USAGE
    assert run("diff", rain, rain, "--variant", "gepa-1").code == exit_codes.USAGE
    again = run("import", "gepa.json", "--into", rain)
    assert (again.code, store.load(rain)) == (exit_codes.OK, after)
    assert "wordings already in the session: 2" in again.err


def test_a_score_survives_saving_and_one_that_is_no_number_is_refused_by_its_place(rain: str, run: Run) -> None:
    Path("gepa.json").write_text('{"candidates": [{"self": "x"}], "val_aggregate_scores": [0.5]}')
    assert run("import", "gepa.json", "--into", rain).code == exit_codes.OK
    data = json.loads(Path(rain).read_text())
    assert data["variants"][0]["score"] == 0.5
    for score in ('"high"', "1e999", "true"):
        Path(rain).write_text(json.dumps(data).replace('"score": 0.5', f'"score": {score}'))
        done = run("render", rain)
        assert done.code == exit_codes.USAGE and "variants[0].score: expected a number" in done.err


ERROR = (
    "Adapter ChatAdapter failed to parse the LM response. \n\nLM Response: [[ ## answer ## ]]\nyes \n\n"
    "Expected to find output fields in the LM response: [answer, score] \n\n"
)


def test_the_text_of_an_error_is_imported_from_standard_input(run: Run) -> None:
    done = run("import", "-", "-o", "failure.json", stdin=ERROR)
    assert done.code == 0, done.err
    assert "guessed: an error's text has no types: str is the type of `answer`, `score`" in done.err
    assert "`chat` cannot parse the reply" in done.err
    assert store.load("failure.json").cases[0].replies["chat"].text == "[[ ## answer ## ]]\nyes"


@pytest.mark.parametrize("kind", ["demos", "cases"])
@pytest.mark.parametrize(
    "text",
    [
        '{"question": "a", "answer": "b"}\n\n{"question": "c", "answer": "d"}\n',
        '[{"question": "a", "answer": "b"},\n {"question": "c", "answer": "d"}]',
        '{"demos": [{"question": "a", "answer": "b"}, {"question": "c", "answer": "d"}]}',
        "question,answer\na,b\nc,d\n",
    ],
)
def test_rows_come_from_standard_input_in_any_form(kind: str, text: str, run: Run) -> None:
    words = ("import", "-", "--as", kind, "--signature", "question -> answer", "-o", "rows.json")
    done = run(*words, stdin=text)
    assert done.code == 0, done.err
    session = store.load("rows.json")
    if kind == "demos":
        assert [dict(one.values) for one in session.demos] == [
            {"question": "a", "answer": "b"},
            {"question": "c", "answer": "d"},
        ]
    else:
        assert [one.expect for one in session.cases] == [{"fields": {"answer": {"equals": one}}} for one in "bd"]


def test_rows_from_standard_input_may_begin_with_a_byte_order_mark(run: Run) -> None:
    done = run("import", "-", "--as", "demos", "-o", "rows.json", "--accept", stdin="\ufeffquestion,answer\na,b\n")
    assert done.code == 0, done.err
    assert [dict(one.values) for one in store.load("rows.json").demos] == [{"question": "a", "answer": "b"}]


def test_an_object_on_several_lines_is_told_where_it_is_not_valid(run: Run) -> None:
    text = '{\n "question": "a",\n "answer": "b",}\n'
    done = run("import", "-", "--as", "demos", "--signature", "question -> answer", "-o", "rows.json", stdin=text)
    assert done.code == exit_codes.USAGE and "line 3, column 16: not valid JSON" in done.err


def test_force_is_refused_beside_into(rain: str, run: Run) -> None:
    Path("d.csv").write_text("question,answer\nq1,yes\n")
    done = run("import", "d.csv", "--into", rain, "--force")
    assert done.code == exit_codes.USAGE and "leave out --force" in done.err
    assert not store.load(rain).demos


def test_a_call_of_a_text_with_several_is_chosen(run: Run) -> None:
    Path("two.log").write_text(f"{ERROR}\n{ERROR.replace('yes', 'no')}")
    done = run("import", "two.log", "-o", "failure.json")
    assert done.code == exit_codes.USAGE
    assert "it has 2 calls: choose with --call" in done.err
    done = run("import", "two.log", "--call", "2", "-o", "failure.json", "--json")
    assert done.code == 0, done.err
    assert any("no inputs" in one for one in json.loads(done.out)["guesses"])
    assert store.load("failure.json").cases[0].replies["chat"].text == "[[ ## answer ## ]]\nno"


TRACE = str(Path(__file__).parents[3] / "sessions/imports/traces/openinference.otlp.json")


def test_a_trace_becomes_a_session_for_each_signature_whose_replies_are_checked(run: Run) -> None:
    done = run("import", TRACE, "-o", "found/", "--json")
    assert [one["path"] for one in done.json["sessions"]] == ["found/Sort.session.json", "found/answer.session.json"]
    assert [len(one["cases"]) for one in done.json["sessions"]] == [2, 1]
    checked = run("check", "found")
    note, passed, *_ = checked.out.splitlines()
    assert checked.code == 0 and passed == "3 passed"
    assert "passes with the parse error that was recorded" in note

    done = run("import", TRACE, "-o", "one.session.json")
    assert done.code == exit_codes.USAGE
    assert "the calls have 2 signatures: Sort (2), answer (1); -o FOLDER/ writes" in done.err
    assert not Path("one.session.json").exists()


def test_calls_of_a_trace_are_chosen_and_masked(run: Run) -> None:
    chosen = ("--failed", "--model", "dummy", "--mask", "日本|bad")
    done = run("import", TRACE, *chosen, "-o", "failed.session.json")
    assert done.code == 0 and "1 of 1 calls failed, first with: Failed to parse field label" in done.err
    (case,) = store.load("failed.session.json").cases
    assert case.inputs == {"ticket": "This is (masked) <b>&</b> (masked)"}
    assert "none of its 3 calls is chosen" in run("import", TRACE, "--model", "other", "-o", "x.session.json").err
    assert "--mask: " in run("import", TRACE, "--mask", "(", "-o", "x.session.json").err
    Path("demos.csv").write_text("question,answer\na,b\n")
    assert "choose calls of a trace" in run("import", "demos.csv", "--failed", "-o", "x.session.json").err


def test_sessions_of_a_folder_are_not_written_over(run: Run) -> None:
    assert not Path("found").exists()
    assert run("import", TRACE, "-o", "found/", "--dry-run").code == 0
    assert not Path("found").exists(), "a dry run makes no folder"
    assert run("import", TRACE, "-o", "found/").code == 0
    before = {one.name: one.read_bytes() for one in Path("found").iterdir()}
    done = run("import", TRACE, "--failed", "-o", "found/")
    assert done.code == exit_codes.USAGE and ".session.json is there already; --force overwrites it" in done.err
    assert {one.name: one.read_bytes() for one in Path("found").iterdir()} == before
    assert run("import", TRACE, "-o", "found/", "--force").code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["label.py:Label", "--case", "rainy"], "a signature has no case (leave out --case)"),
        (["label.py:Label", "--predictor", "x"], "a signature has no predictor"),
        (["label.py:Label", "--signature", "a -> b"], "label.py:Label is a signature itself; leave out --signature"),
        (["chat.json", "--call", "1"], "a list of messages has no call"),
        (
            ["run.json", "--as", "candidates", "--case", "x", "--signature", "question -> answer"],
            "a run of an optimiser has no case",
        ),
        (["two.log", "--predictor", "x"], "a call has no predictor"),
        ([TRACE, "--call", "1"], "--call chooses a call of a text or history"),
    ],
)
def test_choices_without_a_meaning_are_refused_and_not_ignored(words: list[str], said: str, run: Run) -> None:
    Path("label.py").write_text(SOURCE)
    Path("chat.json").write_text('[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]')
    Path("run.json").write_text('[{"predict": "Answer."}, {"predict": "Answer well."}]')
    Path("two.log").write_text(ERROR)
    done = run("import", *words, "-o", "made.json")
    assert done.code == exit_codes.USAGE
    assert said in done.err and not Path("made.json").exists()
