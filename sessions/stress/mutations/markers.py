"""Chat's markers, written almost as they were asked for."""

from __future__ import annotations

import re
from collections.abc import Callable

from adapters.replies.sections import MARKER
from sessions.stress.good_replies import GoodReply
from sessions.stress.mutation import Mutation, grouped

END = "[[ ## completed ## ]]"


def each_marker(replacement: str) -> Callable[[GoodReply], str | None]:
    """Every marker written another way; `\\1` is the name."""

    def made(good: GoodReply) -> str | None:
        return _text(good, lambda text: MARKER.sub(replacement, text))

    return made


def _text(good: GoodReply, change: Callable[[str], str]) -> str | None:
    """The answer in the form's own writing, changed; None in another form."""
    written = good.write(good.fields)
    return None if written is None or good.form is None or good.form.kind != "markers" else change(written)


def values_on_the_line(good: GoodReply) -> str | None:
    return _text(good, lambda text: re.sub(rf"({MARKER.pattern})\n(?=.)", r"\1 ", text))


def no_end(good: GoodReply) -> str | None:
    return _text(good, lambda text: text.replace(f"\n\n{END}", "").rstrip())


def end_on_the_line(good: GoodReply) -> str | None:
    return _text(good, lambda text: text.replace(f"\n\n{END}", f" {END}"))


def words_after_end(good: GoodReply) -> str | None:
    return _text(good, lambda text: f"{text.rstrip()}\nThat should cover it.")


def no_blank_lines(good: GoodReply) -> str | None:
    return _text(good, lambda text: re.sub(r"\n\n(?=\[\[ ## )", "\n", text))


MARKERS = grouped(
    "markers",
    Mutation("values on the marker's line", "marker and value on one line (dspy#7955)", values_on_the_line),
    Mutation("no blank lines between", "models save line breaks", no_blank_lines),
    Mutation("markers indented", "an answer below a list item (dspy#9942)", each_marker(r"  [[ ## \1 ## ]]")),
    Mutation("markers in bold", "Markdown around the marker", each_marker(r"**[[ ## \1 ## ]]**")),
    Mutation("markers numbered", "fields as a list", each_marker(r"1. [[ ## \1 ## ]]")),
    Mutation("markers as headings", "### in front of the marker", each_marker(r"### [[ ## \1 ## ]]")),
    Mutation("markers without spaces", "tokens without their spaces", each_marker(r"[[##\1##]]")),
    Mutation("markers in single brackets", "one bracket is dropped on both sides", each_marker(r"[ ## \1 ## ]")),
    Mutation("markers with a third bracket", "[[[ … ]]], as in dspy#1515", each_marker(r"[[[ ## \1 ## ]]]")),
    Mutation("markers with a closing slash", "markers closed as if they were tags", each_marker(r"[[ ## \1 ## /]]")),
    Mutation("markers in full-width brackets", "models trained on Chinese text", each_marker(r"［［ ## \1 ## ］］")),
    Mutation("a colon after the marker", "the marker taken for a label", each_marker(r"[[ ## \1 ## ]]:")),
    Mutation("no end marker", "the model stops after the last value", no_end),
    Mutation("the end marker on the value's line", "the line break before it is dropped (dspy#8901)", end_on_the_line),
    Mutation("words after the end marker", "the model goes on talking", words_after_end),
)
