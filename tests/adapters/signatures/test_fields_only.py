"""Signatures with the same fields share what is said of the fields; each keeps its own instructions."""

from __future__ import annotations

import pytest

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
