"""A stranger's signature in the form: text, whatever it says."""

import pytest

from adapters.signatures import outline_edits as change
from adapters.signatures.outline import outline_of
from adapters.signatures.outline_edits import NewMember
from tests.support.hostile import HOSTILE
from workbench.output.display import safe
from workbench.tui.panes.signature_form_rows import line_of, rows_of

SOURCE = "import dspy\n\n\nclass A(dspy.Signature):\n    q: str = dspy.InputField()\n    a: str = dspy.OutputField()\n"


@pytest.mark.parametrize("text", HOSTILE.values(), ids=list(HOSTILE))
def test_a_description_is_written_read_and_shown_as_text(text: str) -> None:
    outline = outline_of(SOURCE)
    cls = outline.class_named("A")
    assert cls is not None
    member = cls.members[0]
    made = outline_of(change.set_member(outline, cls, member, NewMember("q", "input", "str", text[:2_000])))
    found = made.class_named("A")
    assert found is not None
    assert found.members[0].description == text[:2_000]
    for row in rows_of(made, None):
        shown = line_of(row, made).plain
        assert shown == safe(shown)
        assert "\n" not in shown
