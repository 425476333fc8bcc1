"""What the source editor offers at a place."""

import pytest

from workbench.editing.completion import complete

CLASS = 'import dspy\n\nclass Kind(Enum):\n    A = "a"\n\nclass Ask(dspy.Signature):\n    """Say."""\n\n'


def offered(text: str, asked: bool = False) -> list[str]:
    found = complete(text, len(text), lambda: ["Kind"], asked=asked)
    return [one.text for one in found.candidates] if found is not None else []


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("    q: s", "str"),
        ("    q: Ki", "Kind"),
        ("    q: list[fl", "float"),
        ("    q: dspy.Im", "dspy.Image"),
        ("    q: Im", "dspy.Image"),
        ("    q: Lit", 'Literal[""]'),
        ("    q: str = In", "dspy.InputField()"),
        ("    q: str = dspy.Out", "dspy.OutputField()"),
        ("    q: str = dspy.InputField(de", 'desc=""'),
        ('    q: str = dspy.InputField(desc="(", mi', "min_length="),
        ("class B(py", "pydantic.BaseModel"),
        ("class B(BaseModel):\n    name: str = Field(desc", 'description=""'),
        ("class B(BaseModel):\n    name: str = Fi", "pydantic.Field()"),
    ],
)
def test_what_was_begun_is_completed(typed: str, first: str) -> None:
    assert offered(CLASS + typed)[0] == first


@pytest.mark.parametrize(
    "typed",
    [
        "    q: ",
        "    q: str",
        "    q: str = 1",
        '    q: str = dspy.InputField(desc="de',
        "    # q: s",
        '    """s',
        "    q",
        "    q: str = dspy.InputField(ge=1",
        "    q: str = dspy.InputField() ",
    ],
)
def test_nothing_is_offered_where_nothing_was_begun(typed: str) -> None:
    assert offered(CLASS + typed) == []


def test_whoever_asks_is_shown_everything() -> None:
    assert offered(CLASS + "    q: ", asked=True)[:2] == ["str", "int"]
    assert offered(CLASS + "    q: str = dspy.InputField(", asked=True)[0] == 'desc=""'


def test_a_short_signature_has_types_too() -> None:
    text = "question, context: li"
    assert complete(text + " -> answer", len(text), list) is not None
    assert complete("question, con -> answer", len("question, con"), list) is None
