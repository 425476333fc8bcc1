"""Signatures with the same fields share what is said of the fields; each keeps its own instructions."""

from __future__ import annotations

import pytest

from adapters.formats import catalog
from adapters.signatures import notation
from adapters.signatures.once_per_fields import LIMIT, once_per_fields
from adapters.signatures.signature import Signature


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


def test_it_is_made_once_for_the_same_fields_and_no_error_is_kept() -> None:
    calls: list[str] = []

    @once_per_fields
    def name_of(signature: Signature) -> str:
        calls.append(signature.instructions)
        if signature.instructions == "none":
            raise ValueError("no")
        return ", ".join(signature.fields)

    first = notation.read("a -> b").with_instructions("none")
    with pytest.raises(ValueError, match="no"):
        name_of(first)
    assert [name_of(first.with_instructions(one)) for one in ("x", "y", "none")] == ["a, b"] * 3
    assert calls == ["none", "x"]
    for number in range(LIMIT + 1):
        name_of(first.with_instructions("x").with_updated_fields("b", desc=str(number)))
    assert name_of(first.with_instructions("z")) == "a, b"
    assert calls[-1] == "z", "the number of what is kept is bounded"


def test_the_form_of_a_reply_is_written_once_for_models_too() -> None:
    source = "class Item(BaseModel):\n    name: str\nclass Ask(dspy.Signature):\n    q: str = dspy.InputField()\n"
    signature = notation.read(f"{source}    items: list[Item] = dspy.OutputField()\n")
    for name in ("chat", "json", "xml", "baml"):
        adapter = catalog.make(name)
        assert adapter.format_field_structure(signature) is adapter.format_field_structure(signature), name
