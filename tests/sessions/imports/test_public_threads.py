"""Histories and errors as public pages show them, shortened: each becomes the session that the page means."""

from __future__ import annotations

import io
from typing import Any, Literal

import dspy
import pytest
from dspy.utils.inspect_history import pretty_print_history

from sessions.imports import lm_call, sources
from sessions.imports.reading import Imported

URL = "https://fal.media/files/elephant/p3M00ca786Ov5ITX8nXUs.jpg"


def pasted(text: str) -> Imported:
    return sources.load("the clipboard", text=text)


def history(inputs: str, outputs: str, shown: str, *messages: str) -> str:
    system = f"Your input fields are:\n{inputs}\n\nYour output fields are:\n{outputs}\n\nAll interactions will be "
    system += f"structured in the following way, with the appropriate values filled in.\n\n{shown}"
    system += "\n\n[[ ## completed ## ]]\n\nIn adhering to this structure, your objective is: \n        Do it.\n\n\n"
    return "\n\n\n[2025-01-08T12:39:42.143798]\n\nSystem message:\n\n" + system + "\n\n\n".join(messages)


CHOICES = ["low", "very high", "reverted_card_payment?", "a, b"]
NOTE = "        # note: the value you produce must be one of: "


@pytest.mark.parametrize(
    ("type_text", "note", "choices", "is_guessed"),
    [
        ("Literal[low, very high]", "low; very high", ["low", "very high"], False),
        ("Literal[low, very high, reverted_card_payment?, a, b]", "; ".join(CHOICES), CHOICES, False),
        ("Literal[search_wikipedia, finish]", "", ["search_wikipedia", "finish"], True),
        ("Literal['low', 'a, b']", "low; a, b", ["low", "a, b"], False),
        ("Literal[1, 2]", "1; 2", [1, 2], False),
    ],
)
def test_choices_that_old_releases_write_without_quotes_are_strings(
    type_text: str, note: str, choices: list[Any], is_guessed: bool
) -> None:
    shown = f"[[ ## text ## ]]\n{{text}}\n\n[[ ## label ## ]]\n{{label}}{NOTE * bool(note)}{note}"
    reply = f"[[ ## label ## ]]\n{choices[0]}\n\n[[ ## completed ## ]]"
    asked = f"User message:\n\n[[ ## text ## ]]\nWhy?\n\n\nResponse:\n\n{reply}\n"
    made = pasted(history("1. `text` (str)", f"1. `label` ({type_text})", shown, asked))
    assert made.session.signature.read().fields["label"].annotation == Literal[tuple(choices)]
    assert made.session.cases[0].replies["chat"].text == reply
    assert any("without quotes: strings are taken" in one for one in made.guesses) == is_guessed


class Depicted(dspy.Signature):
    """Describe."""

    wanted: str = dspy.InputField()
    image: dspy.Image = dspy.InputField()
    prompt: str = dspy.InputField()
    feedback: str = dspy.OutputField()


@pytest.mark.parametrize("adapter", [dspy.ChatAdapter, dspy.JSONAdapter, dspy.XMLAdapter])
def test_the_address_of_an_image_is_kept(adapter: Any) -> None:
    messages = adapter().format(Depicted, [], {"wanted": "calm", "image": dspy.Image(URL), "prompt": "p"})
    entry = {"prompt": None, "messages": messages, "outputs": ["a reply"], "timestamp": "2026-01-02T03:04:05"}
    out = io.StringIO()
    pretty_print_history([entry], file=out)
    assert f"<image_url: {URL}>" in out.getvalue()
    for made in (pasted(out.getvalue()), lm_call.from_call(entry, "history.json")):
        assert made.session.cases[0].inputs == {"wanted": "calm", "image": {"url": URL}, "prompt": "p"}
        assert (made.guesses, made.questions) == ((), ())


def test_a_question_without_the_history_that_demos_have_belongs_to_the_conversation() -> None:
    shown = "\n\n".join(f"[[ ## {name} ## ]]\n{{{name}}}" for name in ("question", "history", "answer"))
    text = history(
        "1. `question` (str)\n2. `history` (History)",
        "1. `answer` (str)",
        shown,
        'User message:\n\n[[ ## question ## ]]\nDemo?\n\n[[ ## history ## ]]\n{"messages": []}',
        "Assistant message:\n\n[[ ## answer ## ]]\nYes.\n\n[[ ## completed ## ]]",
        "User message:\n\n[[ ## question ## ]]\nPyTorch or TensorFlow?",
        "Assistant message:\n\n[[ ## answer ## ]]\nBoth.\n\n[[ ## completed ## ]]",
        "User message:\n\n[[ ## question ## ]]\nWhich one won?",
        "Response:\n\n[[ ## answer ## ]]\nNone.\n\n[[ ## completed ## ]]\n",
    )
    session = pasted(text).session
    assert [dict(one.values) for one in session.demos] == [
        {"question": "Demo?", "history": {"messages": []}, "answer": "Yes."}
    ]
    assert session.cases[0].history == ({"question": "PyTorch or TensorFlow?", "answer": "Both."},)
    assert session.cases[0].inputs == {"question": "Which one won?"}


def test_an_error_quoted_with_shortened_lines_names_its_fields() -> None:
    text = (
        "#### 問題現象\n```\nAdapterParseError: Adapter JSONAdapter failed to parse the LM response.\n"
        "LM Response: {   // Gemini 返回不完整的 JSON\n"
        "Expected to find output fields: [reasoning, responses]\nActual output fields parsed: []\n```\n"
    )
    made = pasted(text)
    assert list(made.session.signature.read().output_fields) == ["reasoning", "responses"]
    assert made.session.cases[0].replies["json"].text == "{   // Gemini 返回不完整的 JSON"


def test_a_page_that_shows_entries_of_a_history_with_the_model_first_holds_its_calls() -> None:
    messages = [
        {
            "role": "system",
            "content": history("1. `q` (str):", "1. `a` (str):", "").partition("System message:\n\n")[2],
        },
        {"role": "user", "content": "[[ ## q ## ]]\nWhy is the sky blue?"},
    ]
    hello = {"model": "x/y", "messages": [{"role": "user", "content": "hello"}], "kwargs": {}, "outputs": ["Hi!"]}
    asked = {"model": "x/y", "messages": messages, "kwargs": {}, "outputs": ["[[ ## a ## ]]\nLight."]}
    text = f"lm.history\n```\n```output | 6 vars\n{[hello, asked]!r}\n```\n"
    session = sources.load("the clipboard", text=text, call=2).session
    assert list(session.signature.read().fields) == ["q", "a"]
    assert session.cases[0].replies["chat"].text == "[[ ## a ## ]]\nLight."


def test_a_prompt_in_xml_with_the_last_marker_of_chat_is_of_the_xml_adapter() -> None:
    """As in dspy's issue 8875, about a release before 3.0.4."""
    system = "Your input fields are:\n1. `query` (str):\nYour output fields are:\n1. `answer` (str):\n"
    system += "All interactions will be structured in the following way, with the appropriate values filled in.\n\n"
    system += "<query>\n{query}\n</query>\n\n<answer>\n{answer}\n</answer>\n\n[[ ## completed ## ]]\n"
    system += "In adhering to this structure, your objective is:\n        Given `query`, produce `answer`."
    asked = "[[ ## query ## ]]\nwhen?\n\nRespond with the corresponding output fields wrapped in XML tags`<answer>`, "
    asked += "and then end with the `<completed>` tag."
    reply = "<query>\nwhen?\n</query>\n\n<answer>\nIn 1867.\n</answer>\n\n[[ ## completed ## ]]"
    made = pasted(
        f"```text\n\n[2025-09-30T23:08:40.684097]\n\nSystem message:\n\n{system}\n\n\nUser message:\n\n{asked}\n\n\n"
        f"Response:\n\n{reply}\n```\n\nIt says `{{x}}`, not [[ ## completed ## ]].\n"
    )
    assert [one.adapter for one in made.session.columns] == ["xml"]
    assert dict(made.session.cases[0].inputs) == {"query": "when?"}
    assert {name: one.text for name, one in made.session.cases[0].replies.items()} == {"xml": reply}
    assert made.notes[-1] == "parsed by `xml`, the reply gives `answer`"


def test_a_cut_off_prompt_that_shows_no_format_is_of_the_default_adapter() -> None:
    """As in dspy's pull request 7851, cut off within its list of fields."""
    made = pasted(
        "System message:\n\nYour input fields are:\n1. `q` (str)\n\nYour output fields are:\n1. `a` (str): The an"
    )
    assert [one.adapter for one in made.session.columns] == ["chat"]
    assert made.notes[0] == "1 message, as `chat` made them"
    assert "the text has no reply" in made.guesses
