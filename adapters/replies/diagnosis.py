"""Diagnose parse errors and surprises with the table of known patterns.

Flags and near misses recognise the patterns; the table (`patterns.py`) ranks them and lists the fixes of each.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from adapters.late_dataclasses import replace
from adapters.replies.fix_makers import copied_from, target_at
from adapters.replies.flag import Diagnosis, Fix, Flag, use_adapter
from adapters.replies.flags.explaining import grounds
from adapters.replies.flags.json_flags import KEY_AND_COLON
from adapters.replies.flags.json_text import valid_object_at
from adapters.replies.last_causes import PROGRAM, Evidence, last_cause, unformatted
from adapters.replies.near_misses import LEAKS
from adapters.replies.patterns import OF_ERRORS, OF_VALUES, RANK, UNKNOWN, fixes_of

if TYPE_CHECKING:
    from adapters.replies.reading import Reading

CUT, LOOP = "cut-off-at-limit", "runaway-repetition"
ENDS = frozenset(("xml-cut-off", "cut-off-json-completed", "cut-off-marker-in-value"))
"""Flags that say less than `CUT`."""
ECHO = "placeholder-echoed"
AFFECT_OTHERS = frozenset((CUT, LOOP, ECHO))
"""Flags that make the fixes of others, or their own, useless."""
ECHOES = frozenset(("prompt-echoed", "schema-echoed"))
"""Flags of replies that more tokens would make longer, not better."""
UNUSUAL = AFFECT_OTHERS | ECHOES | {"error-body"}
"""Flags with more to do than to rank them."""
BACKTICKS, END_IN_VALUE = "text-in-backticks", "completed-marker-in-value"
AT_AN_END = ENDS | {BACKTICKS, END_IN_VALUE}
"""Flags that explain an error only in some replies."""
OF_ANY_FIELD = LEAKS | {"placeholder-echoed"}
"""Flags of a parsed field that explain why another field fails."""
FOUND = frozenset(("read", "failed"))
"""States of outputs that are in the reply."""
BEGINNING = re.compile(r"\[\[ ## (?!completed\b)(\w*)")
FREE_FORMS = ("own", "prose")
"""The forms whose outputs may look like anything."""


def diagnose(reading: Reading) -> tuple[Diagnosis, ...]:
    """Return the causes of a parse error or a surprising value, most decisive first.

    Never empty for a parse error; empty for a reply without surprises. For TwoStep: the causes of its second reply,
    and none before there is one.
    """
    if reading.extraction is not None:
        second, ended = reading.extraction, reading.extraction.ended
        if ended.prompt is not None:  # to copy from the first reply is its task
            second = replace(second, ended=ended._replace(prompt=None))
        inner = diagnose(second)
        return tuple(
            [
                replace(one, message=f"Extraction: {one.message}", find_fixes=partial(_of_extraction, inner, number))
                for number, one in enumerate(inner)
            ]
        )
    patterns = OF_VALUES if reading.error is None else OF_ERRORS
    found = [
        flag
        for flag in grounds(reading)
        if flag.name in patterns and (reading.error is None or _is_decisive(reading, flag))
    ]
    if not found:
        is_unfinished = reading.error is not None and reading.error.type == "NeedsExtraction"
        return () if reading.ok or is_unfinished else (last_cause(Evidence(reading)),)
    names: set[str] = {flag.name for flag in found}
    late: set[str] = set()
    if names.isdisjoint(UNUSUAL):
        return _causes(reading, found, late)
    if "error-body" in names:
        found = [flag for flag in found if flag.name != "list-at-the-root"]  # some servers write their error in a list
    is_echo, is_loop = not names.isdisjoint(ECHOES), LOOP in names
    fails_before = (is_loop or CUT in names) and _fails_before_its_end(reading)
    is_loop_later = is_loop and fails_before and _goes_on(reading)
    if is_echo or fails_before:
        late.add(CUT)
    if is_loop_later:
        late.add(LOOP)
    causes = _causes(reading, found, late)
    if names.isdisjoint(AFFECT_OTHERS):
        return causes
    if names == {CUT} and not reading.ok:
        return _of_a_cut(Evidence(reading), causes[0])
    if is_loop and not reading.ok and reading.form not in FREE_FORMS and not _has_begun(reading):
        causes = (*causes, unformatted(Evidence(reading)))  # fewer repetitions alone make no format
    in_vain: set[str] = set()
    if CUT in names and (is_echo or is_loop or ECHO in names or _is_complete(reading)):
        in_vain.add(CUT)  # more tokens would make it longer
    if is_loop and not is_loop_later:  # all else follows from the loop
        in_vain = names - {LOOP}
    echoed = {one.field for one in causes if one.cause == ECHO} if ECHO in names else ()
    return tuple(
        [
            replace(one, find_fixes=tuple)
            if one.cause in in_vain or (one.field in echoed and one.cause != ECHO)
            else one
            for one in causes
        ]
    )


def _causes(reading: Reading, found: list[Flag], late: set[str]) -> tuple[Diagnosis, ...]:
    """Return the causes of flags, the most decisive first; those of some names come `late`."""
    patterns, apart = OF_VALUES if reading.error is None else OF_ERRORS, reading.apart()
    if len(found) > 1:
        found.sort(key=lambda flag: (flag.name in late, RANK[flag.name]))
    causes: list[Diagnosis] = []
    for flag in found:
        name, message, field, path = flag
        if reading.ended.prompt is not None and not reading.ok and field is not None:
            if source := copied_from(reading, target_at(reading, path or field)):
                message += f" The model copied it from the input `{source}`."
        find_fixes = partial(fixes_of, patterns[name], apart, path or field)
        causes.append(Diagnosis(name, message, field, path, find_fixes))
    return tuple(causes)


def _of_a_cut(evidence: Evidence, cut: Diagnosis) -> tuple[Diagnosis, ...]:
    """Return the causes of a reply that was cut off, among them those that precede its end."""
    reading, text = evidence.reading, evidence.text
    if not _has_begun(reading):
        return last_cause(evidence), replace(cut, find_fixes=tuple) if PROGRAM.match(text) else cut
    outputs = reading.signature.output_fields
    end = valid_object_at(text, text.find("{")) if "json" in reading.form else -1
    below, in_fence = text[end:], reading.form == "fenced json"
    is_read = "{" not in below or (in_fence and below.lstrip().startswith("```"))
    if end > 0 and is_read and below.strip("` \n"):  # only what follows the object was cut off
        return last_cause(evidence), replace(cut, find_fixes=tuple)
    may_fail = reading.form == "xml" or any(name in text for name, one in outputs.items() if one.annotation is not str)
    best = evidence.near_miss if may_fail else None
    if best is None:
        return (cut,)
    error = best.reading.error
    if error is None and text.startswith(best.mended):  # its end is in excess
        return last_cause(evidence), replace(cut, find_fixes=tuple)
    if error is not None and error.end and text.startswith(best.mended[: error.end + 1]):
        found = diagnose(replace(best.reading, ended=reading.ended))
        return (*[one for one in found if one.cause not in (CUT, UNKNOWN)], cut)
    return (cut,)


def _of_extraction(causes: tuple[Diagnosis, ...], number: int) -> tuple[Fix, ...]:
    """Return the fixes of an extraction's cause that do not belong to other columns and the first call."""
    left = []
    for one in causes:
        changes = [fix for fix in one.fixes if fix.kind != "fallback" and "params" not in fix.change]
        left.append(tuple([fix for fix in changes if fix.change.get("adapter") != "twostep"]))
    return left[number] if number or any(left) else (use_adapter("json"),)


def _has_begun(reading: Reading) -> bool:
    """Return True if the reply has an output, or the beginning of the format."""
    if len(reading.lacking) < len(reading.fields):
        return True
    text = reading.completion
    if PROGRAM.match(text):
        return False
    if reading.form in ("json", "fenced json"):
        keys = KEY_AND_COLON.findall(text)
        return "{" in text and (not keys or not reading.fields.keys().isdisjoint(keys))
    if reading.form == "markers":
        return any(name not in reading.signature.input_fields for name in BEGINNING.findall(text))
    return "<" in text or ("{" in text and reading.form != "xml")


def _fails_before_its_end(reading: Reading) -> bool:
    """Return whether the reply goes on after the value that failed: its end is not the cause."""
    error = reading.error
    if error is None or error.end is None or (error.field is None and reading.form != "xml"):
        return False
    return bool(reading.completion[error.end :].strip('" \n]}`'))


def _goes_on(reading: Reading) -> bool:
    """Return whether another output begins after the value that failed."""
    end = None if reading.error is None else reading.error.end
    return end is not None and any(one.place and one.place[0] >= end for one in reading.fields.values())


def _is_complete(reading: Reading) -> bool:
    """Return whether all outputs are in the reply, and more text after them."""
    ends = [one.place[1] for one in reading.fields.values() if one.state in FOUND and one.place]
    return len(ends) == len(reading.fields) and max(ends, default=0) < len(reading.completion.rstrip())


def _is_decisive(reading: Reading, flag: Flag) -> bool:
    """Return whether a flag can explain the error, unlike most flags of parsed fields."""
    error, name, field = reading.error, flag.name, flag.field
    if error is None:
        return True
    if name in AT_AN_END:
        if name in ENDS and reading.ended.finish_reason == "length":
            return False
        if name == END_IN_VALUE and field is not None:
            return reading.fields[field].state == "failed"  # a text that ends with it explains no other field
        if name == BACKTICKS and error.field is not None:
            # an output that is nowhere in the reply was not lost at a backtick
            return reading.fields[error.field].state != "missing" or error.field in reading.completion
    if error.field is None or field is None or name in OF_ANY_FIELD:
        return True
    return reading.fields[field].state in ("failed", "missing")
