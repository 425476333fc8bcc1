"""Causes of parse errors that match no pattern: what a reply has in the place of outputs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import islice, takewhile
from typing import TYPE_CHECKING, NamedTuple

from adapters.late_dataclasses import replace
from adapters.replies.fix_makers import use
from adapters.replies.flag import MISSING, Diagnosis, Fix, named, place, shown
from adapters.replies.flags.explaining import grounds
from adapters.replies.flags.json_flags import KEY_AND_COLON, MOST_KEYS, broken_json, first_keys, unread_key
from adapters.replies.flags.xml_structure import TAG
from adapters.replies.near_misses import find
from adapters.replies.patterns import CUT_OFF, LAST, LIKELY, UNFORMATTED, UNKNOWN, fixes_of
from adapters.replies.reading import ABSENT, ReplyForm, kept
from adapters.replies.repairs import may_name_outputs
from adapters.replies.sections import only_mentions_tags, sound, without_thinking
from adapters.signatures.type_names import written

if TYPE_CHECKING:
    from adapters.replies.reading import NearMiss, Reading

LONGEST_REPORTED = 4_000
MOST_SHOWN = 3
PROGRAM = re.compile(r"\s*```(?!json\b|xml\b|markdown\b|text\b)([A-Za-z]\w{0,19})")
"""A reply that begins with a program."""
NO_KEY = re.compile(r'[`json\s]*\{\s*("[^"\\]{1,4000}")\s*[,}]')
"""A text in braces where a JSON key belongs."""
FORMAT_OF = re.compile(r"The reply is in the format of the (Chat|JSON|XML) adapter")
FOUND = frozenset(("read", "failed"))
"""States of outputs that are in the reply."""
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


class Label(NamedTuple):
    """The name of an output in any layout: its offset, and how it is written with the signs around it."""

    start: int
    written: str
    is_certain: bool
    """True if a sign before a value follows the name, as after a key."""


AFTER_A_NAME = (
    r"""(?P<closing>[ ](?:## \]\]|[*\])}>%#]{1,4}|={2,4})|["'`*\])}>%#]{0,4})"""
    r"""(?:(?P<sign>[ \t]{0,3}(?:=>|->|:=|→|[:=|：])|,(?=\S)|\t)"""
    r"""|(?P<other>\((?!s\))|[ \t]*(?:[—–…]|>{2,}|(?=\n|\Z))))?"""
)
"""Signs that close a name, and a sign before its value, as in any language; else a call, or the end of the line."""
BEFORE_A_NAME_IN_TEXT = re.compile(r"""(?:\[\[ )?[^\w\s.,;"]{2,4} \Z|[^\w\s.;]{1,4}\Z|\t\Z""")
SIGILS = ("$", "@", ":", "#", "&", "?", "--")
BRACKETS = (*SIGILS, "(", "[", "{", "<")
BEFORE_LABELS = (*BRACKETS, ",", "\t")
"""Signs before a name that make it a label without any after it."""
FIRST_WORD = re.compile("_|(?<=[a-z])(?=[A-Z])")
MIRRORED = str.maketrans("([{<", ")]}>")
LONGEST_SOUGHT = 200_000
MOST_FOUND = 50


@lru_cache(maxsize=1024)
def _name_in_text(name: str) -> tuple[str, re.Pattern[str]]:
    """Return the first word of an output's name, and a pattern for the name with the signs behind it."""
    letters = "[ _-]?".join(map(re.escape, sound(name)))
    pattern = re.compile(rf"(?<!\w){letters}(?!\w){AFTER_A_NAME}", re.IGNORECASE)
    return FIRST_WORD.split(name, maxsplit=1)[0].lower(), pattern


class Labels:
    """The labels of outputs in a text of any layout, from an offset on; each output is looked for once."""

    def __init__(self, text: str, start: int = 0) -> None:
        self.text, self.start = text, start
        self._lower = text[start : start + LONGEST_SOUGHT].lower()
        self._known: dict[str, Label | None] = {}

    def of(self, names: Collection[str]) -> dict[str, Label]:
        """Return the labels of outputs that have one."""
        known = self._known
        for name in names:
            if name not in known:
                known[name] = self._find(name)
        return {name: one for name in names if (one := known[name]) is not None}

    def certain(self, names: Collection[str]) -> dict[str, Label]:
        """Return the labels of outputs that a sign before a value follows."""
        return {name: one for name, one in self.of(names).items() if one.is_certain}

    def begin_a_line(self, names: Collection[str]) -> bool:
        """Return whether a certain label begins a line, unlike one in a sentence."""
        text, found = self.text, self.certain(names).values()
        return any(not text[text.rfind("\n", 0, one.start) + 1 : one.start].strip("*#_-> ") for one in found)

    def _find(self, name: str) -> Label | None:
        first, pattern = _name_in_text(name)
        if first not in self._lower:  # to search all of a text takes a hundred times as long
            return None
        found = [*_labels(self.text, pattern.finditer(self.text, self.start, self.start + LONGEST_SOUGHT))]
        return next((one for one in found if one.is_certain), found[0]) if found else None


class Evidence:
    """Facts about a reply that failed; each is found once, when it is asked for."""

    def __init__(self, reading: Reading) -> None:
        self.reading, self.text = reading, reading.completion

    @kept
    def near_miss(self) -> NearMiss | None:
        """The likely intended reply."""
        return next(iter(find(self.reading, 1)), None)

    @kept
    def labels(self) -> Labels:
        """The labels in the whole reply."""
        return Labels(self.text)

    @kept
    def broken(self) -> str:
        """The place where the JSON breaks, as a sentence without its full stop; "" if it does not."""
        return broken_json(self.reading)

    @kept
    def missing(self) -> Sequence[str]:
        """The outputs that are not in the reply and not filled in."""
        reading = self.reading
        lacking: Sequence[str] = reading.lacking
        if "default" in reading.states:
            return [name for name in lacking if reading.fields[name].state == "missing"]
        return lacking


def _labels(text: str, found: Iterator[re.Match[str]]) -> Iterator[Label]:
    """Yield the places of an output's name with signs around it that make it a label."""
    for match in islice(found, MOST_FOUND):
        start, end = match.start(), match.start("closing")
        before = BEFORE_A_NAME_IN_TEXT.search(text[max(0, start - 8) : start])
        opening, (closing, sign, other) = before.group() if before else "", match.group("closing", "sign", "other")
        if not (opening or closing or sign or other is not None):  # a word in a sentence
            continue
        pairs = takewhile(
            lambda pair: pair[0] == pair[1], zip(opening[::-1].translate(MIRRORED), closing, strict=False)
        )
        paired = len([*pairs])
        is_certain = bool(sign) or "]]" in closing or "[[" in opening or (closing[:1] == "}" and not opening)
        is_alone = other == "(" or (
            (other is not None or closing[:2] == ">>") and text[start - 1 : start] in ("", "\n")
        )
        begin = start - (paired or opening.endswith(SIGILS if sign else BRACKETS) + opening.endswith("--"))
        said = f"{text[begin:end]}{closing if is_certain else closing[:paired]}{(sign or '').rstrip('|')}".strip()
        if is_certain or is_alone or paired or opening.endswith(BEFORE_LABELS):
            yield Label(begin, said, is_certain)


def last_cause(evidence: Evidence) -> Diagnosis:
    """Return the cause of a parse error that no pattern explains."""
    reading, missing, states = evidence.reading, evidence.missing, evidence.reading.states
    if (likely := _likely(evidence)) is not None:
        return likely
    for cause, unread, name in unread_key(reading, missing) if reading.form in ("json", "fenced json") else ():
        return _told(reading, cause, unread, name)
    if missing and states[-1] not in ABSENT:  # a cut-off reply lacks its last outputs
        return _told(reading, MISSING, _lacks(evidence, "the model left {} out"), missing[0])
    is_a_beginning = bool(missing) and FOUND.isdisjoint(states[-len(missing) :])
    if is_a_beginning and reading.ended.finish_reason != "stop":
        for flag in grounds(reading):
            if flag.name == CUT_OFF and not evidence.labels.begin_a_line(missing):
                return _told(reading, CUT_OFF, flag.message)
    is_own = reading.form == "own"  # the form that a user's own parser expects is unknown
    if not is_own and len(reading.lacking) == len(states):
        return unformatted(evidence)
    if missing and not is_own:
        ends = "it ends without {}" if is_a_beginning else "the model left {} out"
        return _told(reading, MISSING, _lacks(evidence, ends), missing[0])
    message = "No known pattern explains this parse error; please report it with the text below."
    return _told(reading, UNKNOWN, message, report=_bug_report(reading))


def _likely(evidence: Evidence) -> Diagnosis | None:
    """Return the cause that the likely intended reply shows, or None."""
    reading, best = evidence.reading, evidence.near_miss
    if best is None:
        return None
    message = (best.message.rpartition("; ")[0] or best.message).rstrip(".").removesuffix(" as")
    lacking = [name for name, one in best.reading.fields.items() if one.state == "missing"]
    if not FOUND.isdisjoint([reading.fields[name].state for name in lacking]):
        return None  # it has these outputs, and others in another layout
    if labels := evidence.labels.certain(lacking):
        message += f", and {_as_written(reading, labels)}"
    elif lacking:
        message += f", but not {named(lacking)}"
    elif best.reading.error is not None:
        then = best.reading.diagnosis[0]
        likely = _told(reading, LIKELY, f"{message}; but then {then.message.rstrip('.')}.")
        return replace(likely, find_fixes=partial(_with_descriptions, likely.find_fixes, then))
    form = FORMAT_OF.match(message)
    return _told(reading, LIKELY, f"{message}.", first="" if form is None else form[1].lower())


def unformatted(evidence: Evidence) -> Diagnosis:
    """Return the cause of a reply without any output."""
    reading = evidence.reading
    form, expected = reading.form, EXPECTED.get(reading.form, "JSON keys")
    only_prose = reading.is_prose
    answer = without_thinking(reading.completion)
    text, subject = answer or reading.completion.strip(), "After its thoughts, the reply" if answer else "The reply"
    only_mentions = form == "xml" and only_mentions_tags(text)
    broken = reading.error if form == "xml" and not only_mentions else None
    is_prose, begin = False, max(0, len(text) - LONGEST_ANNOUNCED)
    announced = ANNOUNCED.search(text, begin) if text.find(":", begin) >= 0 else None
    if not only_prose and (program := PROGRAM.match(text)):
        message = f"{subject} begins with a block of {program.group(1)} instead of the {expected}."
    elif not only_prose and "\\boxed{" in text:
        message = f"{subject} has its answer in \\boxed{{…}}, as mathematics is written, instead of the {expected}."
    elif only_mentions and not only_prose and TAG.search(text):
        message = f"{subject} is prose that mentions tags inside sentences, without any field in tags."
        is_prose = True
    elif broken is not None and broken.start is not None:
        message = f"The reply is {broken.message.strip()} ({place(reading, broken.start)})."
    elif announced and (only_prose or STRUCTURE.search(text, 0, announced.start()) is None):
        message = f"{subject} ends where it announces the answer, without any {expected}."
    elif not only_prose and (in_json := _json_instead(reading, text, subject, expected)):
        message = in_json
    elif may_name_outputs(reading) and 2 * len(labels := _labels_from(evidence, text).of(reading.fields)) >= len(
        reading.fields
    ):
        layout = (
            f"a table instead of the {expected}; it"
            if "|" in text and TABLE.search(text, 0, LONGEST_SOUGHT)
            else f"no {expected} of the outputs, but"
        )
        message = f"{subject} has {layout} {_as_written(reading, labels)}."
        if evidence.broken:
            message = f"{evidence.broken}. It {_as_written(reading, labels)}."
    elif only_prose or STRUCTURE.search(text) is None:
        is_prose = len(text.split(None, 2 * len(reading.fields))) > 2 * len(reading.fields)
        layout = _layout(text[:LONGEST_SOUGHT]) if is_prose else f"bare: {shown(text)}"
        message = f"{subject} is {layout}, without any {expected}."
    else:
        message = _instead_of_outputs(evidence, text, subject, expected)
    return _told(reading, UNFORMATTED, message, first="twostep" if is_prose else "")


def _labels_from(evidence: Evidence, text: str) -> Labels:
    """Return the labels in the part of a reply that is its answer."""
    start = max(0, evidence.text.find(text))
    return Labels(evidence.text, start) if start else evidence.labels


def _json_instead(reading: Reading, text: str, subject: str, expected: str) -> str:
    """Say that a reply is in JSON, where the form has none; "" for others."""
    if reading.form not in ("markers", "xml") or '"' not in text:
        return ""
    is_object = text.lstrip("`json \n")[:1] == "{"
    if not is_object and not all(f'"{name}":' in text for name in reading.fields):
        return ""
    found = list(dict.fromkeys([one[1] for one in islice(KEY_AND_COLON.finditer(text), MOST_KEYS)]))
    with_keys = f", with the keys {', '.join(map(shown, found[:MOST_SHOWN]))}" if found else ""
    is_in = "is in braces, as JSON is" if is_object else "has JSON"
    return f"{subject} {is_in}{with_keys}, instead of the {expected}."


def _instead_of_outputs(evidence: Evidence, text: str, subject: str, expected: str) -> str:
    """Say what a reply has in the place of outputs: inputs, other keys."""
    reading = evidence.reading
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
    return f"{message} {evidence.broken}." if evidence.broken else message


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
    if "|" in text and TABLE.search(text):
        return "a table"
    if text[0] == '"':
        return "one JSON string"
    if PROGRAM_LINE.search(text):
        return "code"
    return "a list" if LISTED.fullmatch(text) else "prose"


def _lacks(evidence: Evidence, left_out: str) -> str:
    """Say that outputs are missing and why; `left_out` is the usual reason, with {} in their place."""
    reading, missing, broken = evidence.reading, evidence.missing, evidence.broken
    instead = _input_instead_of(reading, missing[0]) if reading.sections else ""
    labels = evidence.labels.certain(missing)
    lacking = [name for name in missing if name not in labels]
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


def _other_names(reading: Reading) -> list[str]:
    """Return the first name in the reply's format that is neither an output nor an input."""
    starts = [one.start for one in reading.spans if one.kind == "unknown"] if "unknown" in reading.kinds else []
    found = [A_NAME_IN_SIGNS.match(reading.completion, start) for start in starts[:MOST_SHOWN]]
    return [one[1] for one in found if one and one[1] not in reading.signature.fields][:1]


def _as_written(reading: Reading, labels: Mapping[str, Label]) -> str:
    """Say how and where the reply has the names of outputs."""
    said = []
    for name, one in islice(labels.items(), MOST_SHOWN):
        places = [(field.name, *field.place) for field in reading.fields.values() if field.place]
        around = next((f", inside `{field}`" for field, start, end in places if start <= one.start < end), "")
        said.append(f"`{name}` as {shown(one.written)} ({place(reading, one.start)}{around})")
    return f"writes {', '.join(said)}" + (" and so on" if len(labels) > MOST_SHOWN else "")


def _bug_report(reading: Reading) -> str:
    fields = [f"{one.role} {one.name}: {written(one.annotation)}" for one in reading.signature.fields.values()]
    error = "" if reading.error is None else f"{reading.error.type}: {reading.error.message.strip()}"
    reply = json.dumps(reading.completion[:LONGEST_REPORTED])
    lines = ["No known cause for this parse error", f"Adapter: {reading.adapter}", *fields]
    return "\n".join([*lines, f"Error: {error}", f"Reply ({len(reading.completion):,} characters): {reply}"])


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


def _with_descriptions(find_fixes: Callable[[], tuple[Fix, ...]], then: Diagnosis) -> tuple[Fix, ...]:
    first, *others = find_fixes()
    return (first, *[fix for fix in then.fixes if fix.kind == "description"], *others)
