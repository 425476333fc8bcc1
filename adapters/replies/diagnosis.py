"""Diagnose parse errors and surprises with the table of known patterns.

Flags and near misses recognise the patterns; the table (`patterns.py`) ranks them and lists the fixes of each.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from adapters.late_dataclasses import replace
from adapters.replies.fix_makers import copied_from, target_at, use
from adapters.replies.flag import MISSING, Diagnosis, Fix, Flag, named, place, shown, use_adapter
from adapters.replies.flags.explaining import grounds
from adapters.replies.flags.json_flags import KEY_AND_COLON, MOST_KEYS, broken_json, first_keys, unread_key
from adapters.replies.flags.json_text import valid_object_at
from adapters.replies.flags.xml_structure import TAG, only_mentions_tags
from adapters.replies.near_misses import LEAKS, find
from adapters.replies.patterns import (
    CUT_OFF,
    LAST,
    LIKELY,
    OF_ERRORS,
    OF_VALUES,
    RANK,
    UNFORMATTED,
    UNKNOWN,
    fixes_of,
)
from adapters.replies.reading import ABSENT, ReplyForm
from adapters.replies.repairs import LONGEST_SOUGHT, Label, labels_of
from adapters.replies.sections import without_thinking
from adapters.signatures.type_names import written

if TYPE_CHECKING:
    from adapters.replies.reading import Reading

LONGEST_REPORTED = 4_000
MOST_SHOWN = 3
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
PROGRAM = re.compile(r"\s*```(?!json\b|xml\b|markdown\b|text\b)([A-Za-z]\w{0,19})")
"""A reply that begins with a program."""
NO_KEY = re.compile(r'[`json\s]*\{\s*("[^"\\]{1,4000}")\s*[,}]')
"""A text in braces where a JSON key belongs."""
FORMAT_OF = re.compile(r"The reply is in the format of the (Chat|JSON|XML) adapter")
BEGINNING = re.compile(r"\[\[ ## (?!completed\b)(\w*)")
BACKTICKS, END_IN_VALUE = "text-in-backticks", "completed-marker-in-value"
AT_AN_END = ENDS | {BACKTICKS, END_IN_VALUE}
"""Flags that explain an error only in some replies."""
OF_ANY_FIELD = LEAKS | {"placeholder-echoed"}
"""Flags of a parsed field that explain why another field fails."""
FOUND = frozenset(("read", "failed"))
"""States of outputs that are in the reply."""
FREE_FORMS = ("own", "prose")
"""The forms whose outputs may look like anything."""
EXPECTED = {"markers": "[[ ## name ## ]] markers", "xml": "tags", "prose": "text"}
"""The names of what a form has for its outputs, if these are not JSON keys."""
A_NAME_IN_SIGNS = re.compile(r"""[\s\["'<#]{0,20}(\w(?:[\w .-]{0,60}\w)?)""")
A_NAME: Mapping[ReplyForm, str] = {"markers": "marker", "xml": "tag"}
ANNOUNCED = re.compile(r"\w:[\s*-]{0,9}(?:```\w{0,9}\s{0,9})?[{\[]?\Z")
"""A colon after a word, and at most the beginning of an answer after it."""
LONGEST_ANNOUNCED = 40
"""The characters at the end of a reply that it may have, and more."""
STRUCTURE = re.compile(r"[{}]|\[\s*[\"'\[]|</?[A-Za-z]|```")
"""The beginning of an object, a list, a marker, a tag or a fence, which prose lacks."""


TABLE = re.compile(r"^[ \t]*\|[^\n]{1,500}\|", re.MULTILINE)
PROGRAM_LINE = re.compile(
    r"^[ \t]*(?:\w[^\n]{0,300};$|(?:def|class|import|from|func|fn) \w[^\n]{0,300}[:({]?$)", re.MULTILINE
)
LISTED = re.compile(r"(?:[ \t]*(?:[-*•]|\d{1,3}[.)])[ \t][^\n]{0,500}(?:\n\s*|\Z))+")


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
        return () if reading.ok or is_unfinished else (_last(reading),)
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
        return _of_a_cut(reading, causes[0])
    if is_loop and not reading.ok and reading.form not in FREE_FORMS and not _has_begun(reading):
        causes = (*causes, _unformatted(reading))  # fewer repetitions alone make no format
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


def _of_a_cut(reading: Reading, cut: Diagnosis) -> tuple[Diagnosis, ...]:
    """Return the causes of a reply that was cut off, among them those that precede its end."""
    if not _has_begun(reading):
        return _last(reading), replace(cut, find_fixes=tuple) if PROGRAM.match(reading.completion) else cut
    outputs, text = reading.signature.output_fields, reading.completion
    end = valid_object_at(text, text.find("{")) if "json" in reading.form else -1
    below, in_fence = text[end:], reading.form == "fenced json"
    is_read = "{" not in below or (in_fence and below.lstrip().startswith("```"))
    if end > 0 and is_read and below.strip("` \n"):  # only what follows the object was cut off
        return _last(reading), replace(cut, find_fixes=tuple)
    may_fail = reading.form == "xml" or any(name in text for name, one in outputs.items() if one.annotation is not str)
    for best in find(reading, 1) if may_fail else ():
        error = best.reading.error
        if error is None and text.startswith(best.mended):  # its end is in excess
            return _last(reading), replace(cut, find_fixes=tuple)
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


def _bug_report(reading: Reading) -> str:
    fields = [f"{one.role} {one.name}: {written(one.annotation)}" for one in reading.signature.fields.values()]
    error = "" if reading.error is None else f"{reading.error.type}: {reading.error.message.strip()}"
    reply = json.dumps(reading.completion[:LONGEST_REPORTED])
    lines = ["No known cause for this parse error", f"Adapter: {reading.adapter}", *fields]
    return "\n".join([*lines, f"Error: {error}", f"Reply ({len(reading.completion):,} characters): {reply}"])


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


def _input_instead_of(reading: Reading, missing: str) -> str:
    """Return the input whose marker is where that of a missing output belongs; "" for none."""
    marked, outputs = [one.name for one in reading.sections], list(reading.fields)
    earlier = [marked.index(one) for one in outputs[: outputs.index(missing)] if one in marked]
    for name in marked[max(earlier, default=-1) + 1 :]:
        if name in reading.fields:  # what follows belongs to a later output
            break
        if name in reading.signature.input_fields:
            return name
    return ""


def _lacks(reading: Reading, missing: Sequence[str], left_out: str) -> str:
    """Say that outputs are missing and why; `left_out` is the usual reason, with {} in their place."""
    instead = _input_instead_of(reading, missing[0]) if reading.sections else ""
    labels = _certain(reading, missing)
    lacking, broken = [name for name in missing if name not in labels], broken_json(reading)
    said = left_out.format("it" if len(lacking) == 1 else "them")
    if instead:
        said = f"the model wrote the name of the input `{instead}` instead"
    others = "" if instead else "".join([f", but {shown(one)}" for one in _other_names(reading)])
    absent = [f"The reply has no {named(lacking)}{others}; {said}."] if lacking else []
    why = f"The reply has no {A_NAME.get(reading.form, 'JSON key')} for {named(list(labels))}, but"
    if broken or any('"' in one.written for one in labels.values()):
        why = f"{named(list(labels))} {'was' if len(labels) == 1 else 'were'} not read: the reply"
    present = [f"{why} {_as_written(reading, labels)}."] if labels else []
    return " ".join([*present, *absent, *([f"{broken}."] if broken else [])])


def _other_names(reading: Reading) -> list[str]:
    """Return the first name in the reply's format that is neither an output nor an input."""
    starts = [one.start for one in reading.spans if one.kind == "unknown"] if "unknown" in reading.kinds else []
    found = [A_NAME_IN_SIGNS.match(reading.completion, start) for start in starts[:MOST_SHOWN]]
    return [one[1] for one in found if one and one[1] not in reading.signature.fields][:1]


def _certain(reading: Reading, names: Iterable[str]) -> dict[str, Label]:
    """Find the labels of outputs that a sign before a value follows."""
    return {name: one for name, one in labels_of(reading.completion, names).items() if one.is_certain}


def _begin_lines(reading: Reading, names: Iterable[str]) -> bool:
    """Return whether the label of an output begins a line, unlike one in a sentence."""
    text, labels = reading.completion, _certain(reading, names).values()
    return any(not text[text.rfind("\n", 0, one.start) + 1 : one.start].strip("*#_-> ") for one in labels)


def _as_written(reading: Reading, labels: Mapping[str, Label]) -> str:
    """Say how and where the reply has the names of outputs."""
    said = []
    for name, one in islice(labels.items(), MOST_SHOWN):
        places = [(field.name, *field.place) for field in reading.fields.values() if field.place]
        around = next((f", inside `{field}`" for field, start, end in places if start <= one.start < end), "")
        said.append(f"`{name}` as {shown(one.written)} ({place(reading, one.start)}{around})")
    return f"writes {', '.join(said)}" + (" and so on" if len(labels) > MOST_SHOWN else "")


def _told(
    reading: Reading, cause: str, message: str, place: str | None = None, report: str = "", first: str = ""
) -> Diagnosis:
    """Return a cause of `LAST`; `first`: the adapter that its fixes begin with."""
    fixes = partial(_fixes_of_last, cause, reading.apart(), first, place)
    return Diagnosis(cause, message, place, "", fixes, report)


def _fixes_of_last(cause: str, reading: Reading, first: str, place: str | None) -> tuple[Fix, ...]:
    fixes = fixes_of(LAST[cause][1], reading, place)
    if not first:
        return fixes
    return (*use(first)(reading, None), *[fix for fix in fixes if fix.change.get("adapter") != first])


def _last(reading: Reading) -> Diagnosis:
    for best in find(reading, 1):
        message = (best.message.rpartition("; ")[0] or best.message).rstrip(".").removesuffix(" as")
        lacking = [name for name, one in best.reading.fields.items() if one.state == "missing"]
        if not FOUND.isdisjoint([reading.fields[name].state for name in lacking]):
            break  # it has these outputs, and others in another layout
        if labels := _certain(reading, lacking):
            message += f", and {_as_written(reading, labels)}"
        elif lacking:
            message += f", but not {named(lacking)}"
        elif best.reading.error is not None:
            then = best.reading.diagnosis[0]
            likely = _told(reading, LIKELY, f"{message}; but then {then.message.rstrip('.')}.")
            return replace(likely, find_fixes=partial(_with_descriptions, likely.find_fixes, then))
        form = FORMAT_OF.match(message)
        return _told(reading, LIKELY, f"{message}.", first="" if form is None else form[1].lower())
    states = reading.states
    missing: Sequence[str] = reading.lacking
    if "default" in states:
        missing = [name for name in missing if reading.fields[name].state == "missing"]
    for cause, unread, name in unread_key(reading, missing) if reading.form in ("json", "fenced json") else ():
        return _told(reading, cause, unread, name)
    if missing and states[-1] not in ABSENT:  # a cut-off reply lacks its last outputs
        return _told(reading, MISSING, _lacks(reading, missing, "the model left {} out"), missing[0])
    is_a_beginning = bool(missing) and FOUND.isdisjoint(states[-len(missing) :])
    if is_a_beginning and reading.ended.finish_reason != "stop" and not _begin_lines(reading, missing):
        for flag in grounds(reading):
            if flag.name == CUT_OFF:
                return _told(reading, CUT_OFF, flag.message)
    is_own = reading.form == "own"  # the form that a user's own parser expects is unknown
    if not is_own and len(reading.lacking) == len(states):
        return _unformatted(reading)
    if missing and not is_own:
        ends = "it ends without {}" if is_a_beginning else "the model left {} out"
        return _told(reading, MISSING, _lacks(reading, missing, ends), missing[0])
    message = "No known pattern explains this parse error; please report it with the text below."
    return _told(reading, UNKNOWN, message, report=_bug_report(reading))


def _unformatted(reading: Reading) -> Diagnosis:
    """Return the cause of a reply without any output."""
    form, expected = reading.form, EXPECTED.get(reading.form, "JSON keys")
    only_prose = reading.is_prose
    answer = without_thinking(reading.completion)
    text, subject = answer or reading.completion.strip(), "After its thoughts, the reply" if answer else "The reply"
    only_mentions = form == "xml" and only_mentions_tags(text)
    broken = reading.error if form == "xml" and not only_mentions else None
    is_prose, begin = False, max(0, len(text) - LONGEST_ANNOUNCED)
    start = max(0, reading.completion.find(text))
    announced = ANNOUNCED.search(text, begin) if text.find(":", begin) >= 0 else None
    if not only_prose and (program := PROGRAM.match(text)):
        message = f"{subject} begins with a block of {program.group(1)} instead of the {expected}."
    elif "\\boxed{" in text:
        message = f"{subject} has its answer in \\boxed{{…}}, as mathematics is written, instead of the {expected}."
    elif only_mentions and TAG.search(text):
        message = f"{subject} is prose that mentions tags inside sentences, without any field in tags."
        is_prose = True
    elif broken is not None and broken.start is not None:
        message = f"The reply is {broken.message.strip()} ({place(reading, broken.start)})."
    elif announced and (only_prose or STRUCTURE.search(text, 0, announced.start()) is None):
        message = f"{subject} ends where it announces the answer, without any {expected}."
    elif in_json := _json_instead(reading, text, subject, expected):
        message = in_json
    elif 2 * len(labels := labels_of(reading.completion, reading.fields, start)) >= len(reading.fields):
        layout = (
            f"a table instead of the {expected}; it"
            if TABLE.search(text, 0, LONGEST_SOUGHT)
            else f"no {expected} of the outputs, but"
        )
        message = f"{subject} has {layout} {_as_written(reading, labels)}."
        if said := broken_json(reading):
            message = f"{said}. It {_as_written(reading, labels)}."
    elif only_prose or STRUCTURE.search(text) is None:
        is_prose = len(text.split()) > 2 * len(reading.fields)
        layout = _layout(text[:LONGEST_SOUGHT]) if is_prose else f"bare: {shown(text)}"
        message = f"{subject} is {layout}, without any {expected}."
    else:
        message = _instead_of_outputs(reading, text, subject, expected)
    return _told(reading, UNFORMATTED, message, first="twostep" if is_prose else "")


def _json_instead(reading: Reading, text: str, subject: str, expected: str) -> str:
    """Say that a reply is in JSON, where the form has none; "" for others."""
    is_object = text.lstrip("`json \n")[:1] == "{" and text.find('"') > 0
    is_json = is_object or all(f'"{name}":' in text for name in reading.fields)
    if reading.form not in ("markers", "xml") or not is_json:
        return ""
    found = list(dict.fromkeys([one[1] for one in islice(KEY_AND_COLON.finditer(text), MOST_KEYS)]))
    with_keys = f", with the keys {', '.join(map(shown, found[:MOST_SHOWN]))}" if found else ""
    is_in = "is in braces, as JSON is" if is_object else "has JSON"
    return f"{subject} {is_in}{with_keys}, instead of the {expected}."


def _instead_of_outputs(reading: Reading, text: str, subject: str, expected: str) -> str:
    """Say what a reply has in the place of outputs: inputs, other keys."""
    keys = first_keys(reading)
    if reading.form == "json" and not keys and (alone := NO_KEY.match(text)):
        return f"{subject} has a text in braces, {shown(alone[1])}, without a JSON key before it."
    inputs = [name for name in reading.signature.input_fields if f"[[ ## {name} ## ]]" in text or f"<{name}>" in text]
    message = f"The reply does not follow the format: none of the {expected} of the outputs is in it"
    if inputs:
        whose = _demo_with(reading, inputs)
        message = (
            f"The reply repeats the input {named(inputs)}{whose}, and none of the {expected} of the outputs is in it"
        )
    message = f"{message}; it has {', '.join(map(shown, keys[:MOST_SHOWN]))}." if keys else f"{message}."
    return f"{message} {broken}." if (broken := broken_json(reading)) else message


def _demo_with(reading: Reading, inputs: Sequence[str]) -> str:
    """Return ` of demo N` if a reply has the inputs of that demo and not those asked about; else ""."""
    messages = reading.ended.prompt.messages if reading.ended.prompt is not None else ()
    for one in reversed([one for one in messages if one.role == "user"]):
        given = [
            "".join([text for text, kind, of in one.segments if kind == "value" and of == name]) for name in inputs
        ]
        if all(text.strip() and text.strip() in reading.completion for text in given):
            return f" of {one.turn}" if one.turn.startswith("demo ") else ""
    return ""


def _layout(text: str) -> str:
    """Name the layout of a text without any label of an output."""
    if TABLE.search(text):
        return "a table"
    if text[0] == '"':
        return "one JSON string"
    if PROGRAM_LINE.search(text):
        return "code"
    return "a list" if LISTED.fullmatch(text) else "prose"


def _with_descriptions(find_fixes: Callable[[], tuple[Fix, ...]], then: Diagnosis) -> tuple[Fix, ...]:
    first, *others = find_fixes()
    return (first, *[fix for fix in then.fixes if fix.kind == "description"], *others)
