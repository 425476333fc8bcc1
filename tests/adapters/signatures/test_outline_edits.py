"""A signature's text is changed piece by piece, and what is not meant stays to the character."""

import pytest

from adapters.errors import SignatureError
from adapters.signatures import notation
from adapters.signatures import outline_edits as change
from adapters.signatures.outline import Outline, outline_of, uses_of
from adapters.signatures.outline_edits import NewMember
from tests.adapters.signatures.notation_sources import SOURCES

MEMBERS = [
    pytest.param(text, of.name, member.name, id=f"{name}-{of.name}.{member.name}")
    for name, text in SOURCES.items()
    for of in outline_of(text).classes
    for member in of.members
]

SOURCE = '''import dspy  # the library
from typing import Literal
import pydantic


class Line(pydantic.BaseModel):
    """One line."""

    what: str
    price: float = 0.0  # net


class Kind(str, Enum):
    BILL = "bill"


class Extract(dspy.Signature):
    """Extract the invoice."""

    # as it came
    note: str = dspy.InputField(desc="the text")  # raw
    lang: Literal["de", "en"] = dspy.InputField()

    # what is wanted
    lines: list[Line] = dspy.OutputField(
        # one for each
        desc="every line",
    )
    kind: Kind = dspy.OutputField()
'''


SHORT_CLASS = """import dspy

WORDS = "as asked"


class A(dspy.Signature):
    q: str = dspy.InputField(desc="asked")
    a: str = dspy.OutputField()
"""


def signature(outline: Outline):  # type: ignore[no-untyped-def]
    found = outline.class_named(None)
    assert found is not None
    return found


def edit(text: str, which: str, of: str | None = None, **changes: str) -> str:
    outline = outline_of(text)
    cls = outline.class_named(of)
    assert cls is not None
    member = cls.member(which)
    assert member is not None
    wanted = NewMember(
        changes.get("name", member.name),
        changes.get("kind", member.kind),
        changes.get("type_text", member.type_text),
        changes.get("description", member.description),
    )
    return change.set_member(outline, cls, member, wanted)


def test_an_outline_says_what_is_declared() -> None:
    outline = outline_of(SOURCE)
    assert [(one.name, one.kind, [member.name for member in one.members]) for one in outline.classes] == [
        ("Line", "model", ["what", "price"]),
        ("Kind", "enum", ["BILL"]),
        ("Extract", "signature", ["note", "lang", "lines", "kind"]),
    ]
    lines = signature(outline).member("lines")
    assert (lines.kind, lines.type_text, lines.description) == ("output", "list[Line]", "every line")


@pytest.mark.parametrize(
    ("changes", "before", "after"),
    [
        ({"name": "text"}, "note: str = dspy", "text: str = dspy"),
        ({"type_text": "int"}, "note: str = dspy", "note: int = dspy"),
        ({"kind": "output"}, 'InputField(desc="the text")  # raw', 'OutputField(desc="the text")  # raw'),
        ({"description": 'a "b" \\'}, 'desc="the text"', "desc='a \"b\" \\\\'"),
        ({"description": ""}, '(desc="the text")', "()"),
    ],
)
def test_only_what_is_meant_changes(changes: dict[str, str], before: str, after: str) -> None:
    assert edit(SOURCE, "note", **changes) == SOURCE.replace(before, after)


def test_a_description_is_put_beside_what_is_there() -> None:
    assert 'price: float = pydantic.Field(default=0.0, description="net")  # net' in edit(
        SOURCE, "price", "Line", description="net"
    )
    assert 'what: str = pydantic.Field(description="x")\n' in edit(SOURCE, "what", "Line", description="x")
    constrained = SOURCE.replace("kind: Kind = dspy.OutputField()", "kind: Kind = dspy.OutputField(max_length=3,)")
    assert 'OutputField(max_length=3, desc="x")' in edit(constrained, "kind", description="x")


def test_a_type_brings_its_import() -> None:
    changed = edit(SOURCE, "note", type_text="Optional[date]")
    assert "import pydantic\nfrom datetime import date\nfrom typing import Optional\n\n\nclass Line" in changed
    assert notation.read(changed).input_fields["note"].annotation is not str


def test_a_field_goes_behind_the_last_of_its_role() -> None:
    outline = outline_of(SOURCE)
    added = change.add_member(outline, signature(outline), NewMember("size", "input", "int", "in bytes"))
    line = '    size: int = dspy.InputField(desc="in bytes")\n'
    assert added == SOURCE.replace('"en"] = dspy.InputField()\n', '"en"] = dspy.InputField()\n' + line)


def test_comments_travel_with_a_field_and_outlive_it() -> None:
    outline = outline_of(SOURCE)
    cls = signature(outline)
    moved = change.move_member(outline, cls, cls.member("note"), 1)
    assert moved.index("lang:") < moved.index("# as it came") < moved.index("note:") < moved.index("# what is wanted")
    assert sorted(moved.splitlines()) == sorted(SOURCE.splitlines())
    deleted = change.delete_member(outline, cls, cls.member("note"))
    assert "# as it came" in deleted and "note:" not in deleted


def test_what_would_lose_a_comment_is_refused() -> None:
    odd = SOURCE.replace("list[Line]", "list[  # many\n        Line\n    ]")
    with pytest.raises(SignatureError, match="the replaced text contains a comment"):
        edit(odd, "lines", type_text="str")
    assert edit(odd, "lines", name="rows") == odd.replace("    lines:", "    rows:")


def test_code_in_place_of_a_description_is_not_replaced() -> None:
    coded = SHORT_CLASS.replace('desc="asked"', "desc=WORDS")
    with pytest.raises(SignatureError, match="description of q is code"):
        edit(coded, "q", description="new")
    assert edit(coded, "q", name="query") == coded.replace("q: str", "query: str")


def test_models_and_enums_are_made_renamed_and_deleted() -> None:
    outline = outline_of(SOURCE)
    added = outline_of(change.add_class(outline, "Party", "model"))
    assert added.types == ("Line", "Kind", "Party")
    assert change.delete_class(added, added.class_named("Party")) == SOURCE
    renamed = change.rename_class(outline, outline.class_named("Line"), "Row")
    assert renamed == SOURCE.replace("class Line", "class Row").replace("list[Line]", "list[Row]")
    with pytest.raises(SignatureError, match="still used"):
        change.delete_class(outline, outline.class_named("Line"))
    values = outline_of(change.add_member(outline, outline.class_named("Kind"), NewMember("NOTE", "value", '"note"')))
    assert [one.type_text for one in values.class_named("Kind").members] == ['"bill"', '"note"']


@pytest.mark.parametrize("name", ["two words", "class", "", "1st", "lang", "a\x1b"])
def test_a_name_that_will_not_do_says_why(name: str) -> None:
    with pytest.raises(SignatureError):
        edit(SOURCE, "note", name=name)


SHORT = "question, context: list[str] -> answer: float"


def test_a_short_signature_stays_short_while_it_can() -> None:
    assert edit(SHORT, "question", name="query") == "query, context: list[str] -> answer: float"
    assert edit(SHORT, "answer", type_text="int") == "question, context: list[str] -> answer: int"
    assert edit(SHORT, "context", kind="output") == "question -> context: list[str], answer: float"
    outline = outline_of(SHORT)
    cls = signature(outline)
    added = change.add_member(outline, cls, NewMember("why", "output", "str"))
    assert added == "question, context: list[str] -> answer: float, why: str"
    assert change.move_member(outline, cls, cls.members[1], -1) == "context: list[str], question -> answer: float"
    assert change.delete_member(outline, cls, cls.members[0]) == "context: list[str] -> answer: float"


def test_a_short_signature_becomes_source_for_a_description() -> None:
    changed = edit(SHORT, "question", type_text="str", description="as asked")
    before, after = notation.read(SHORT), notation.read(changed)
    assert after.input_fields["question"].desc == "as asked"
    assert list(before.fields) == list(after.fields)
    assert before.instructions == after.instructions
    assert "class Kind(Enum)" in change.add_class(outline_of(SHORT), "Kind", "enum")


def test_a_new_source_can_be_read_once_it_has_an_output() -> None:
    outline = outline_of(change.new_source("Extract", "text"))
    text = change.add_member(outline, signature(outline), NewMember("total", "output", "float"))
    assert list(notation.read(text).output_fields) == ["total"]


@pytest.mark.parametrize(
    "text", ["One line.", "Two\n\n  lines", 'With """ quotes', 'ends with a quote"', "[/x] \\ \x1b"]
)
def test_instructions_are_the_docstring(text: str) -> None:
    for source in (SOURCE, SHORT_CLASS):
        outline = outline_of(source)
        made = change.set_instructions(outline, signature(outline), text)
        assert notation.read(made).instructions == text
        emptied = outline_of(made)
        bare = change.set_instructions(emptied, signature(emptied), " ")
        assert '"""' not in bare.partition("(dspy.Signature)")[2]
        assert list(notation.read(bare).fields) == list(notation.read(source).fields)


@pytest.mark.parametrize(("text", "of", "name"), MEMBERS)
def test_whatever_people_write_comes_back_to_the_character(text: str, of: str, name: str) -> None:
    def find(source: str, which: str):  # type: ignore[no-untyped-def]
        outline = outline_of(source)
        cls = outline.class_named(of)
        assert cls is not None
        member = cls.member(which)
        assert member is not None
        return outline, cls, member

    outline, cls, member = find(text, name)
    same = NewMember(name, member.kind, member.type_text, member.description)
    assert change.set_member(outline, cls, member, same) == text
    renamed = change.set_member(outline, cls, member, NewMember("zz_other", member.kind, member.type_text, None))
    assert renamed.replace("zz_other", name, 1) == text
    assert edit(renamed, "zz_other", of, name=name) == text
    for by in (1, -1):
        alike = [one for one in cls.members if one.kind == member.kind]
        if any(one.block is None for one in alike):
            continue  # two on one line: refused
        moved = change.move_member(outline, cls, member, by)
        assert sorted(moved.split()) == sorted(text.split())
        if moved != text:
            assert change.move_member(*find(moved, name), -by).rstrip() == text.rstrip()


LOOKALIKES = '''import dspy
from typing import Annotated, Literal
from pydantic import BaseModel, Field


class Item(BaseModel):
    """An Item of the bill."""

    kind: Literal["Item", "Fee"] = "Item"
    parts: "list[Item] | None" = None


Items = dict[str, "Item"]


class Bill(dspy.Signature):
    """Item by Item."""

    note: Annotated[str, "Item"] = dspy.InputField(desc="an Item")  # Item
    items: Annotated["list[Item]", Field(min_length=1)] = dspy.OutputField()
    named: Items = dspy.OutputField()
    choice: Literal["Item", 'Other'] = dspy.OutputField()


Short = dspy.Signature("note: Literal['Item'] -> item: list[Item]", "Take the Item.")
'''


def test_a_renamed_class_is_renamed_where_it_is_named_and_not_where_a_text_looks_like_it() -> None:
    outline = outline_of(LOOKALIKES)
    expected = LOOKALIKES
    for before, after in (
        ("class Item(", "class Row("),
        ('"list[Item] | None"', '"list[Row] | None"'),
        ('dict[str, "Item"]', 'dict[str, "Row"]'),
        ('"list[Item]",', '"list[Row]",'),
        ("item: list[Item]", "item: list[Row]"),
    ):
        assert expected.count(before) == 1
        expected = expected.replace(before, after)
    assert change.rename_class(outline, outline.class_named("Item"), "Row") == expected


def test_a_class_that_only_texts_mention_can_be_deleted() -> None:
    source = LOOKALIKES.replace("list[Item]", "list[str]").replace('dict[str, "Item"]', "dict[str, str]")
    outline = outline_of(source)
    assert "class Item" not in change.delete_class(outline, outline.class_named("Item"))


def test_renaming_in_a_text_nested_too_deeply_is_refused_in_one_line() -> None:
    deep = "import dspy\n\n\nclass Item:\n    pass\n\n\nTOTAL = " + " + ".join(["1"] * 3_000) + "\n"
    with pytest.raises(SignatureError, match="too deeply"):
        uses_of(deep, "Item")
