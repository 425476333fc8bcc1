"""Each claim of older documents about dspy's adapters that dspy 3.4.1 or we contradict (`docs/differences.md`)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import dspy
import pytest

from adapters import AdapterParseError, Capabilities, Field, Image, Reasoning, Signature
from adapters.formats.catalog import NAMES, make
from adapters.prompts.field_descriptions import translate_field_type
from adapters.requests.request import prepare
from adapters.signatures.notation import read
from adapters.types import ToolCalls
from adapters.values.coercion import coerce, format_field_value

QA = read("question, context: list[str] -> answer")
SCHEMA_MODEL = Capabilities(True, False, True, frozenset({"response_format", "tools"}))
OBJECT_MODEL = Capabilities(False, False, False, frozenset({"response_format"}))
DOCUMENT = Path(__file__).parents[3] / "docs" / "differences.md"


class Model:
    """A scripted LM under dspy's interface that remembers what it was sent."""

    model = "scripted"
    kwargs: Mapping[str, Any] = MappingProxyType({})

    def __init__(self, *replies: Any) -> None:
        self.replies = list(replies)
        self.sent: list[dict[str, Any]] = []

    def __call__(self, messages: list[dict[str, Any]], **kwargs: Any) -> list[Any]:
        self.sent.append({"messages": messages, **kwargs})
        return [self.replies.pop(0)]


def system_of(name: str, signature: Signature) -> str:
    return str(make(name).render(signature, [], {}).messages[0].content)


def test_xml_is_read_by_a_parser_not_by_a_pattern() -> None:
    assert make("xml").read(QA, "R&D <answer>42</answer>").error is not None
    assert make("xml").parse(QA, "<answer><![CDATA[a < b]]></answer>") == {"answer": "a < b"}


def test_the_tier_of_response_format_is_chosen_before_the_call() -> None:
    json = make("json")
    schema = prepare(json, QA, [], {}, SCHEMA_MODEL).params["response_format"]
    assert schema["type"] == "json_schema"
    assert prepare(json, QA, [], {}, OBJECT_MODEL).params["response_format"] == {"type": "json_object"}
    assert "response_format" not in prepare(json, QA, [], {}).params


def test_a_failed_json_reply_is_not_asked_for_again_in_another_tier() -> None:
    model = Model("no JSON here", '{"answer": "x"}')
    with pytest.raises(AdapterParseError):
        make("json")(model, {}, QA, [], {"question": "q"})
    assert len(model.sent) == 1


def test_an_image_is_never_read_from_a_path() -> None:
    with pytest.raises(ValueError, match="from_path"):
        Image("picture.png")
    with pytest.raises(ValueError):
        dspy.Image("picture.png")


def test_the_fallback_follows_only_a_parse_error() -> None:
    signature = Signature.make((Field("q", "input"), Field("img", "output", Image)))
    model = Model('[[ ## img ## ]]\n{"url": "http://x.y/z.png", "download": true}', "{}")
    with pytest.raises(TypeError):
        make("chat")(model, {}, signature, [], {"q": "q"})
    assert len(model.sent) == 1


def test_the_fallback_asks_through_json() -> None:
    model = Model("nothing of use", '{"answer": "42"}')
    assert make("chat")(model, {}, QA, [], {"question": "q"}) == [{"answer": "42"}]
    assert "JSON object" in str(model.sent[1]["messages"][-1]["content"])


def test_a_marker_counts_only_at_the_start_of_a_line() -> None:
    assert make("chat").parse(QA, "[[ ## answer ## ]]\nsee [[ ## answer ## ]]") == {"answer": "see [[ ## answer ## ]]"}


def test_parts_of_the_system_message_are_joined_by_one_line_break() -> None:
    text = system_of("chat", QA)
    assert "1. `answer` (str):\nAll interactions" in text
    assert "[[ ## completed ## ]]\nIn adhering to this structure, your objective is: \n        Given" in text


def test_a_field_without_description_ends_in_a_colon() -> None:
    assert "1. `question` (str): \n2. `context` (list[str]):\n" in system_of("chat", QA)


def test_the_placeholder_description_is_no_description() -> None:
    assert "${reasoning}" not in system_of("chat", QA.chain_of_thought())


def test_chain_of_thought_keeps_the_instructions_of_the_signature_it_extends() -> None:
    assert QA.chain_of_thought().instructions == QA.instructions


def test_text_outputs_have_no_type_note_and_others_eight_spaces_before_theirs() -> None:
    signature = read("q -> a, n: int")
    assert translate_field_type("a", signature.output_fields["a"]) == "{a}"
    assert translate_field_type("n", signature.output_fields["n"]) == (
        "{n}        # note: the value you produce must be a single int value"
    )


def test_translate_field_type_takes_the_name_and_the_field() -> None:
    with pytest.raises(TypeError):
        translate_field_type(QA.output_fields["answer"])  # type: ignore[call-arg, arg-type]


def test_json_structure_notes_stand_inside_the_string() -> None:
    assert '"n": "{n}        # note: the value you produce must be a single int value"' in system_of(
        "json", read("q -> n: int")
    )


def test_a_list_in_a_text_field_becomes_passages_in_guillemets_and_in_a_list_field_json() -> None:
    text = read("q -> a").input_fields["q"]
    listed = QA.input_fields["context"]
    assert format_field_value(text, ["one", "two"]) == "[1] «one»\n[2] «two»"
    assert format_field_value(listed, ["one", "two"]) == '["one", "two"]'


def test_numbers_and_booleans_go_through_json_repair_not_through_a_cast() -> None:
    assert coerce("0x1F", int) == 31
    with pytest.raises(ValueError):
        coerce("1,234", int)


def test_a_literal_that_is_no_member_is_coerced_not_refused() -> None:
    from typing import Literal

    assert coerce("2", Literal[1, 2]) == 2


def test_a_missing_output_with_a_default_or_that_allows_none_is_filled() -> None:
    assert make("chat").parse(read("q -> a: Optional[str]"), "I cannot help with that.") == {"a": None}


def test_every_history_turn_with_an_input_carries_the_reminder() -> None:
    from adapters import History

    signature = read("question, history: dspy.History -> answer")
    history = History(messages=[{"question": "1", "answer": "2"}])
    prompt = make("chat").render(signature, [], {"question": "3", "history": history})
    assert "Respond with" in prompt.messages[1].text


def test_the_system_message_still_lists_the_history_field() -> None:
    assert "`history` (History)" in system_of("chat", read("question, history: dspy.History -> answer"))


def test_only_the_whole_custom_type_markers_mark_a_content_part() -> None:
    text = "<<CUSTOM-TYPE-START-IDENTIFIER>>[1]<<END-IDENTIFIER>>"
    (message,) = make("chat").render(read("q -> a"), [], {"q": text}).messages[1:]
    assert message.is_list
    assert len(message.parts) == 1


def test_reasoning_stays_text_for_gpt_5_over_chat_completions() -> None:
    signature = Signature.make((Field("q", "input"), Field("r", "output", Reasoning)))
    reasons = Capabilities(False, True, False, frozenset())
    assert prepare(make("chat"), signature, [], {}, reasons, model="openai/gpt-5").removed_fields == ()
    assert prepare(make("chat"), signature, [], {}, reasons, model="openai/o3").removed_fields == ("r",)


def test_native_tools_stay_text_on_a_model_without_function_calling() -> None:
    signature = read("q, tools: list[dspy.Tool] -> calls: dspy.ToolCalls")
    assert prepare(make("json"), signature, [], {"q": "q", "tools": []}).removed_fields == ()
    assert signature.output_fields["calls"].annotation is ToolCalls


def test_fine_tuning_data_exists_for_every_adapter_and_is_dspys_for_chat() -> None:
    sample = ([], {"question": "q", "context": []}, {"answer": "a"})
    theirs = dspy.Signature("question, context: list[str] -> answer")
    assert make("chat").format_finetune_data(QA, *sample) == dspy.ChatAdapter().format_finetune_data(theirs, *sample)
    with pytest.raises(NotImplementedError):
        dspy.JSONAdapter().format_finetune_data(theirs, *sample)
    assert make("json").format_finetune_data(QA, *sample)["messages"][-1]["content"] == '{\n  "answer": "a"\n}'


def test_the_string_notation_refuses_what_dspy_drops() -> None:
    theirs = dspy.Signature("question='q' -> answer")
    assert theirs.input_fields["question"].is_required()
    with pytest.raises(ValueError, match="column"):
        read("question='q' -> answer")


def test_the_markdown_prompt_names_the_output_fields() -> None:
    (message,) = make("markdown").render(QA, [], {"question": "q"}).messages
    assert "- `answer` (str)" in message.text


def test_the_markdown_reply_is_converted_by_the_one_coercion() -> None:
    with pytest.raises(AdapterParseError):
        make("markdown").parse(read("q -> n: int"), '{"n": 3.9}')


@pytest.mark.parametrize("name", NAMES)
def test_a_signature_without_outputs_is_read_by_every_adapter(name: str) -> None:
    signature = Signature.make((Field("question", "input"),))
    assert make(name).read(signature, '{"a": 1}').fields == {}


def test_deep_nesting_is_a_parse_error_of_the_markdown_adapter() -> None:
    with pytest.raises(AdapterParseError):
        make("markdown").parse(QA, "[" * 200_000)


def test_a_reply_too_large_to_repair_is_refused_with_the_limit() -> None:
    reading = make("json").read(read("q -> a"), '{"a": "' + "line\n" * 60_000 + '"}')
    assert reading.error is not None
    assert "200,000" in reading.error.message


def test_the_errors_of_a_very_long_reply_are_not_counted() -> None:
    reading = make("json").read(read("q -> a: list[int]"), '{"a": [' + '"x", ' * 250_000 + '"y"]}')
    assert reading.error is not None
    assert "show only the first error" in reading.error.message and "1,000,000" in reading.error.message


def test_every_row_of_the_document_names_a_test_that_exists() -> None:
    named = re.findall(r"`(test_[a-z0-9_]+)`", DOCUMENT.read_text())
    here = {name for name in globals() if name.startswith("test_")}
    assert set(named) <= here
    assert here - set(named) == {"test_every_row_of_the_document_names_a_test_that_exists"}
