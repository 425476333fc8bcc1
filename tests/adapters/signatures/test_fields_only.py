"""Signatures with the same fields share what is said of the fields; each keeps its own instructions."""

from __future__ import annotations

import pytest

from adapters.errors import SignatureError
from adapters.formats import catalog
from adapters.signatures import notation


@pytest.mark.parametrize("name", ["chat", "json", "xml", "baml", "twostep", "markdown"])
def test_a_prompt_has_the_instructions_of_its_own_signature(name: str) -> None:
    adapter = catalog.make(name, {})
    first = notation.read("question -> answer: list[int]").with_instructions("Say ALPHA.")
    second = first.with_instructions("Say BETA.")
    third = second.with_updated_fields("answer", desc="what is asked")
    texts = [adapter.render(one, [], {"question": "?"}).messages[0].text for one in (first, second, third)]
    assert ["ALPHA" in texts[0], "BETA" in texts[1], "BETA" in texts[2]] == [True, True, True]
    assert texts[0].replace("ALPHA", "BETA") == texts[1]
    assert ["what is asked" in one for one in texts] == [False, False, True]


def test_signatures_with_the_same_fields_share_what_depends_on_the_fields_alone() -> None:
    first = notation.read("a -> b: list[int]").with_instructions("Say ALPHA.")
    second = first.with_instructions("Say BETA.")
    third = first.with_updated_fields("b", desc="numbers")
    assert first.fields_only is second.fields_only
    assert first.fields_only is not third.fields_only
    for name in ("chat", "json", "xml", "baml"):
        adapter = catalog.make(name)
        structures = [adapter.format_field_structure(one) for one in (first, second)]
        assert structures[0] is structures[1], name


def test_the_form_of_a_reply_is_written_once_for_models_too() -> None:
    source = "class Item(BaseModel):\n    name: str\nclass Ask(dspy.Signature):\n    q: str = dspy.InputField()\n"
    signature = notation.read(f"{source}    items: list[Item] = dspy.OutputField()\n")
    for name in ("chat", "json", "xml", "baml"):
        adapter = catalog.make(name)
        assert adapter.format_field_structure(signature) is adapter.format_field_structure(signature), name


def test_fields_of_equal_text_are_shared_by_signatures() -> None:
    first = notation.read("share_a, share_b: list[str] -> share_c: int")
    second = notation.read(" share_b: list[str],share_a->share_c: int ")
    assert first.outputs_only is second.outputs_only
    assert first.fields["share_b"] is second.fields["share_b"]
    assert first.fields["share_a"].type_was_given is False
    assert list(second.fields) == ["share_b", "share_a", "share_c"]


def test_known_fields_keep_the_errors_and_notes_of_their_signature() -> None:
    notation.read("kept_a: str -> kept_b: dict[str, int], kept_c: None")
    notation.read("kept_b -> kept_a: str, kept_d: Literal['x, kept_b']")
    for text, place, message in (
        ("kept_a: str -> kept_a: str", 16, "is an input already"),
        ("kept_a: str, kept_a: str -> kept_c: int", 14, "is named twice"),
        ("kept_a: str -> kept_d: Literal['x, kept_b'", 31, "not valid Python"),
        ("kept_a: str, -> kept_b", 0, ""),
    ):
        if not message:
            assert list(notation.read(text).fields) == ["kept_a", "kept_b"]
            continue
        with pytest.raises(SignatureError, match=message) as caught:
            notation.read(text)
        assert caught.value.column == place, text
    again = notation.read("kept_b -> kept_c: None").fields["kept_c"]
    assert again.notes == ("dspy's string notation reads the type None as str",)
