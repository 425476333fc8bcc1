"""The errors of this package do what those of dspy do."""

from __future__ import annotations

from dspy.utils.exceptions import AdapterParseError as Theirs

from adapters.errors import AdapterParseError
from adapters.signatures import notation


def test_the_args_of_a_parse_error_can_be_read_and_set_as_dspys() -> None:
    signature = notation.read("q -> a")
    ours = AdapterParseError("ChatAdapter", signature, "hm", "No.", {})
    theirs = Theirs("ChatAdapter", signature, "hm", "No.", {})
    assert ours.args == theirs.args == (str(theirs),)
    for args in (("other",), ("two", 2), ("[case 3]", *theirs.args), ()):
        ours.args = theirs.args = args
        assert (ours.args, str(ours), repr(ours)) == (theirs.args, str(theirs), repr(theirs))
