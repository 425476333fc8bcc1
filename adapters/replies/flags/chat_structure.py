"""Flags for the `[[ ## field ## ]]` markers of Chat replies."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from adapters.replies.flag import Flag, line, named, place, shown
from adapters.replies.flags.wrong_places import name_flags
from adapters.replies.repairs import COMPLETED, markers_by_sound, names_by_case, names_by_sound
from adapters.replies.sections import (
    THOUGHTS,
    UNUSUAL_BREAKS,
    MarkerLike,
    Section,
    markers_like,
    may_hold_lookalikes,
    sound,
)
from adapters.types.recognition import is_named

if TYPE_CHECKING:
    from adapters.replies.reading import Reading

FENCE = "```"
END_MARKER = "[[ ## completed ## ]]"
MOST_MARKERS = 2000
WORDS_BEHIND = re.compile(r"[^\w\n]{0,50}\w")
"""A word behind a marker in its line."""


def chat_structure(reading: Reading) -> Iterator[Flag]:
    """Yield flags for the markers of a Chat reply."""
    found, outputs, completion = reading.sections, reading.signature.output_fields, reading.completion
    if not found:
        return
    taken: dict[str, Section] = {}
    for section in found:
        if section.name in outputs:
            taken.setdefault(section.name, section)
    likes: list[MarkerLike] = []
    if holds_lookalikes(reading):
        likes = list(islice(markers_like(completion, markers_by_sound(reading.signature)), MOST_MARKERS))
    if found[0].marker_start:
        yield from _preamble(reading, found, taken)
        meant = names_by_sound(reading.signature) if likes else {}
        for like in likes:
            name = meant.get(sound(like.name), "")
            if like.end <= found[0].marker_start and name and reading.fields[name].state == "missing":
                said = f"{_not_a_marker(reading, like, name)} It was dropped with the text before the first marker."
                yield Flag("marker-in-value", said, name)
    has_end = found[-1].name == COMPLETED and COMPLETED not in outputs
    has_others = len(found) > len(taken) + has_end
    if has_others or not has_end or found[-1].text:
        yield from _end(reading, found, taken, likes)
    if has_others:
        yield from _not_taken(reading, found, taken)
    # A letter first: to search a long reply for "[THINK]" takes a third of its parse.
    may_think = not reading.has_only_markers and ("<" in completion or ("K" in completion and "[T" in completion))
    thoughts = [one for one in THOUGHTS if one[0] in completion] if may_think else ()
    for name, section in taken.items():
        if thoughts:
            yield from _inside_thoughts(reading, name, section, thoughts)
        if not section.is_plain or completion[section.start - 1] != "\n":
            yield from _value(reading, name, section)
        if likes:
            yield from _markers_within(reading, name, section, likes)


def holds_lookalikes(reading: Reading) -> bool:
    """Return whether a reply may hold lookalikes of markers."""
    known: bool | None = reading.detected.get(holds_lookalikes)
    if known is None:
        names, is_plain = markers_by_sound(reading.signature), reading.has_only_markers
        known = may_hold_lookalikes(reading.completion, reading.sections, names, is_plain)
        reading.detected[holds_lookalikes] = known
    return known


def _preamble(reading: Reading, found: Sequence[Section], taken: dict[str, Section]) -> Iterator[Flag]:
    before = reading.completion[: found[0].marker_start].strip()
    if not before:
        return
    if before.rpartition("\n")[2].startswith(FENCE):
        last = list(taken.values())[-1:]
        if last and last[0].text.rstrip().endswith(FENCE) and last[0].text.count(FENCE) % 2:
            yield Flag(
                "fence-in-value",
                f"The reply is in a code fence; Chat does not recognise fences, so the closing ``` became the end of "
                f"`{last[0].name}`.",
                last[0].name,
            )
        before = before.rpartition("\n")[0].strip()
    if before:
        yield Flag("preamble-dropped", f"The text before the first marker was dropped: {shown(before)}.")


def _end(
    reading: Reading, found: Sequence[Section], taken: dict[str, Section], likes: Sequence[MarkerLike]
) -> Iterator[Flag]:
    outputs = reading.signature.output_fields
    if COMPLETED in outputs or not taken:
        return
    for end in found:
        if end.name == COMPLETED:
            if end.text:
                where = line(reading, end.marker_end)
                said = f"The text after [[ ## completed ## ]] ({where}) was dropped: {shown(end.text)}."
                yield Flag("after-completed-dropped", said)
            return
    last = found[-1]
    tail = last.text[last.text.rfind("\n") + 1 :].strip()
    if tail[:2] == "[[" and any(f"[[ ## {name} ## ]]".startswith(tail) for name in (COMPLETED, *outputs)):
        yield Flag(
            "cut-off-marker-in-value",
            f"The reply ends within a marker, and the piece {shown(tail)} became part of `{last.name}`.",
            last.name if last.name in taken else None,
        )
    elif not likes or not any(like.start >= last.start and sound(like.name) == COMPLETED for like in likes):
        lacks_end = "The reply does not end with [[ ## completed ## ]], which dspy does not require"
        if reading.ended.finish_reason != "stop" and _is_a_beginning(reading, found, taken, likes):
            where = place(reading, max(0, len(reading.completion.rstrip()) - 1))
            lacks_end += f"; it may have been cut off in `{last.name}` ({where})"
        yield Flag("completed-marker-missing", f"{lacks_end}.")


def _is_a_beginning(
    reading: Reading, found: Sequence[Section], taken: dict[str, Section], likes: Sequence[MarkerLike]
) -> bool:
    """Return whether the reply may be cut off: fields in order, none left out."""
    names = list(taken)
    if names != list(reading.signature.output_fields)[: len(names)] or found[-1].name != names[-1]:
        return False
    if not likes:
        return True
    meant = names_by_sound(reading.signature)
    return all(meant.get(sound(like.name), names[0]) in names for like in likes)


def _not_taken(reading: Reading, found: Sequence[Section], taken: dict[str, Section]) -> Iterator[Flag]:
    outputs = reading.signature.output_fields
    lower = names_by_case(reading.signature)
    ignored: dict[str, Section] = {}
    duplicated: set[str] = set()
    ended: set[str] = set()
    for index, section in enumerate(found):
        name = section.name
        if name in outputs:
            if taken[name] is not section and name not in duplicated:
                duplicated.add(name)
                yield from _duplicate(reading, name, taken[name], section)
        elif name != COMPLETED:
            meant = lower.get(name.casefold())
            if meant is not None and name not in ignored:
                yield Flag(
                    "marker-in-another-case",
                    f"[[ ## {name} ## ]] ({line(reading, section.marker_start)}) is not `{meant}`: names in markers "
                    "are case-sensitive, so the section was ignored.",
                    meant,
                )
            ignored.setdefault(name, section)
            before = found[index - 1].name if index else ""
            if before in outputs and before not in ended:
                ended.add(before)
                yield Flag(
                    "value-ended-by-unknown-marker",
                    f"`{before}` ends where [[ ## {shown(name)[1:-1]} ## ]] begins "
                    f"({line(reading, section.marker_start)}), although that is not an output field.",
                    before,
                )
    yield from name_flags(reading, [name for name in ignored if name.casefold() not in lower])
    if ignored:
        first = next(iter(ignored.values()))
        yield Flag(
            "unknown-section-ignored",
            f"The reply has sections for {named(list(ignored))}, which the signature does not have; they were "
            f"ignored, the first one being {shown(first.text)}.",
        )


def _duplicate(reading: Reading, name: str, first: Section, later: Section) -> Iterator[Flag]:
    state = reading.fields[name].state
    failed = " The first could not be parsed, so the reply failed." if state == "failed" else ""
    yield Flag(
        "duplicate-marker-first-wins",
        f"`{name}` is answered again on {line(reading, later.marker_start)} ({shown(later.text)}); only the first "
        f"answer counts: {shown(first.text)}.{failed}",
        name,
    )


def _inside_thoughts(
    reading: Reading, name: str, section: Section, thoughts: Sequence[tuple[str, str]]
) -> Iterator[Flag]:
    completion, start = reading.completion, section.marker_start
    for begin, end in thoughts:
        opened = completion.rfind(begin, 0, start)
        before = completion[completion.rfind("\n", 0, opened) + 1 : opened]
        if opened <= completion.rfind(end, 0, start) or before.strip():
            continue  # no thoughts, or a value that mentions the tag within a line
        if opened < reading.sections[0].marker_start or completion.find(end, start) >= 0:
            yield Flag(
                "marker-inside-think",
                f"The first [[ ## {name} ## ]] ({line(reading, start)}) is inside {begin}: a draft was "
                "taken as the answer.",
                name,
            )


def _value(reading: Reading, name: str, section: Section) -> Iterator[Flag]:
    completion = reading.completion
    if section.start < section.marker_end:
        leaked = completion[section.start : section.marker_end]
        yield Flag(
            "indented-marker-leaks",
            f"The marker on {line(reading, section.marker_start)} is indented, and by a bug in dspy its last "
            f"characters {shown(leaked)} became the beginning of `{name}`.",
            name,
        )
    elif section.on_marker_line:
        yield Flag(
            "text-on-the-marker-line",
            f"`{name}` begins on the marker's own line ({line(reading, section.marker_start)}): everything behind ]] "
            f"belongs to it: {shown(section.text)}.",
            name,
        )
    elif completion[section.start - 1 : section.start] in (" ", "\t"):
        yield from _indentation(reading, name, section)
    if section.is_plain:  # no unusual line breaks in the reply
        return
    raw = completion[section.start : section.end]
    unusual = sorted({character for character in UNUSUAL_BREAKS if character in raw})
    if unusual:
        yield Flag(
            "line-breaks-rewritten",
            f"`{name}` holds {', '.join(ascii(one) for one in unusual)}; Chat turns every kind of line break into \\n, "
            "even inside JSON strings.",
            name,
        )


def _indentation(reading: Reading, name: str, section: Section) -> Iterator[Flag]:
    annotation = reading.signature.output_fields[name].annotation
    if annotation is not str and not is_named(annotation, "Code"):
        return
    start = section.start
    lead = reading.completion[max(0, start - 200) : start].rpartition("\n")[2]
    if lead and lead.isspace() and ("\n " in section.text or "\n\t" in section.text):
        yield Flag(
            "first-indent-lost",
            f"The value of `{name}` was stripped: its first line lost an indentation of {len(lead)}, the other lines "
            "kept theirs.",
            name,
        )


def _not_a_marker(reading: Reading, like: MarkerLike, meant: str) -> str:
    written = reading.completion[like.start : like.end].strip()
    where = place(reading, like.end - len(written))
    exactly = f"a marker begins a line and is written exactly [[ ## {meant} ## ]]"
    return f"{shown(written)[1:-1]} ({where}) is not a marker: {exactly}."


def _markers_within(reading: Reading, name: str, section: Section, likes: Sequence[MarkerLike]) -> Iterator[Flag]:
    outputs, meant = reading.signature.output_fields, names_by_sound(reading.signature)
    for like in likes:
        is_inside = section.marker_end <= like.start and section.start < like.end <= section.end
        if not is_inside or not (like.has_hashes or like.begins_line):
            continue
        if sound(like.name) == COMPLETED and COMPLETED not in outputs:
            if not like.begins_line and WORDS_BEHIND.match(reading.completion, like.end, section.end):
                continue  # a sentence that mentions it
            written = reading.completion[like.start : like.end].strip()
            where = place(reading, like.end - len(written))
            if written == END_MARKER:
                said = f"The end marker is not at the beginning of a line ({where})."
            else:
                said = f"{shown(written)[1:-1]} ({where}) is not the end marker, which must begin a line and read "
                said += f"exactly {END_MARKER}."
            yield Flag("completed-marker-in-value", f"{said} It became part of `{name}`.", name)
        elif sound(like.name) in meant:
            said = _not_a_marker(reading, like, meant[sound(like.name)])
            yield Flag("marker-in-value", f"{said} It became part of `{name}`.", name)
