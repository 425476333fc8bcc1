"""Collect all flags of a parse result, among them those of the whole outcome."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from operator import attrgetter

from adapters.replies.flag import Flag, line, named, shown
from adapters.replies.flags.chat_structure import chat_structure
from adapters.replies.flags.json_flags import fenced_json_structure, json_structure
from adapters.replies.flags.json_repaired import repaired_json
from adapters.replies.flags.strange_replies import strange_reply
from adapters.replies.flags.values_read import values_read
from adapters.replies.flags.values_refused import values_refused
from adapters.replies.flags.xml_structure import xml_structure
from adapters.replies.reading import LONG_SEARCH, UNKNOWN_END, Detector, Reading, ReplyForm
from adapters.replies.sections import is_only_thoughts

EXPECTED_ERRORS = ("AdapterParseError", "NeedsExtraction", "TooLargeError")


def no_answer(reading: Reading) -> Iterator[Flag]:
    """Yield flags for a parse error that follow from the reply's end, size or lack of fields."""
    error = reading.error
    if error is None:
        return
    if reading.ended is not UNKNOWN_END:
        yield from _ended(reading)
    if not reading.has_values and (found := _without_fields(reading)) is not None:
        yield found
    if error.type == "TooLargeError":
        yield Flag("too-large-to-read", f"The reply exceeds a limit of this project: {error.message}.", error.field)


def verdict(reading: Reading) -> Iterator[Flag]:
    """Yield flags that follow from the verdict and the fields' states alone."""
    if reading.error is None:
        yield from _filled_in(reading)
        return
    error = reading.error
    if error.type not in EXPECTED_ERRORS:
        yield Flag(
            "leaked-error",
            f"dspy does not turn this {error.type} into an AdapterParseError, so there is no second call, "
            "and code that catches AdapterParseError does not catch it.",
            error.field,
        )
    kept = [name for name, one in reading.fields.items() if one.state == "read"]
    if kept:
        yield Flag(
            "fields-lost-with-the-error",
            f"{named(kept)} could be parsed, but {'is' if len(kept) == 1 else 'are'} lost: one failed field "
            "makes the whole reply a parse error.",
        )
    response = getattr(reading.exception, "lm_response", None)
    if isinstance(response, str) and reading.form != "prose" and reading.completion not in ("", response):
        yield Flag(
            "error-shows-a-part",
            f"dspy's error shows only {shown(response)} as the model's reply: the part that it searched last, "
            "not the whole reply.",
        )


REFUSAL = re.compile(
    r"(?:I['’]m|I am)(?: very| so)? sorry|(?:Sorry|Unfortunately),? (?:but )?I (?:can|am|['’]m)|"
    r"I (?:cannot|can['’]t|am unable to|am not able to|won['’]t|will not) (?:help|assist|comply|provide|do that)|"
    r"As an AI\b|I apologi[sz]e, but|I (?:don['’]t|do not) feel comfortable|Lo siento|Es tut mir leid|抱歉|对不起|"
    r"The response was filtered",
    re.IGNORECASE,
)
SHORTEST = 3
EMPTY_FENCE = re.compile(r"```\w{0,20}\s*```")
OPEN_KEY = re.compile(r'\{\s*"[\w -]{0,60}')
"""The whole of a reply that ends within its first JSON key."""
THINKS = re.compile(r"<(?:(?:mm:|seed:)?think|thinking|thoughts?|reasoning)>|\[THINK\]")


def _ended(reading: Reading) -> Iterator[Flag]:
    """Flag a reply that the provider reports as cut off, filtered or refused."""
    reason, refusal, limit, _ = reading.ended
    if refusal:
        yield Flag("refusal", f"The model refused: {shown(' '.join(refusal.split()))}.")
    elif reason == "length":
        told = "its token limit" if limit is None else f"max_tokens {limit:,}"
        where = line(reading, len(reading.completion))
        yield Flag("cut-off-at-limit", f"The reply was cut off at {told} ({where}).")
    elif reason == "content_filter":
        yield Flag("stopped-by-filter", "The provider's content filter stopped the reply.")


def _without_fields(reading: Reading) -> Flag | None:
    """Return the flag for the cause of a reply without fields: empty, too short, unfinished thoughts, a refusal."""
    text = reading.completion.strip()
    if not text or is_only_thoughts(text):
        said = "The reply ends with its thoughts: no answer follows them." if text else "The reply is empty."
        if reading.called:
            said = f"The reply has no text: the model only called {named(list(reading.called))}."
        return Flag("empty-reply", said)
    if text[:3] == "```" and EMPTY_FENCE.fullmatch(text):
        return Flag("empty-reply", "The reply is an empty code fence.")
    if text == "{}":
        return Flag("empty-object", "The object is empty: no output is in it.")
    if text == "null":
        return Flag("reply-too-short", "The whole reply is null: no output is in it.")
    if len(text) < SHORTEST:
        is_piece = len(text) == 1 and reading.ended.finish_reason != "length"
        why = ": often a custom LM returned a text; it must return a list of texts, [text]" if is_piece else ""
        return Flag("reply-too-short", f"The whole reply is {shown(text)}{why}.")
    if text[0] == "{" and reading.form == "json" and OPEN_KEY.fullmatch(text):
        return Flag("cut-off-json-completed", f"The reply ends within its first JSON key ({shown(text)}).")
    is_tag = text[0] == "<"
    thinks = THINKS.match(text) if is_tag or text[0] == "[" else None
    if thinks and (end := f"{thinks.group()[0]}/{thinks.group()[1:]}") not in text:
        said = f"The reply has {thinks.group()} without {end}: the model's thoughts, and no answer."
        return Flag("think-not-closed", said)
    if not is_tag and REFUSAL.match(text) and not reading.ended.refusal:
        return Flag("refusal", f"The reply seems to be a refusal in prose: {shown(text)}.")
    return None


def _filled_in(reading: Reading) -> Iterator[Flag]:
    states = {name: one.state for name, one in reading.fields.items()}
    filled = [name for name, state in states.items() if state == "default"]
    if filled and len(filled) == len(states):
        yield Flag(
            "all-outputs-filled-in",
            f"Nothing was found in the reply: {named(filled)} {'is' if len(filled) == 1 else 'are'} only filled in, "
            "so a refusal or an empty reply counts as success.",
        )
    for name in filled:
        value = reading.fields[name].value
        yield Flag("default-filled-in", f"The reply has no `{name}`; {shown(value)} was filled in for it.", name)
    for name, state in states.items():
        if state == "missing" and name in reading.values:
            yield Flag(
                "none-beside-a-tool-call",
                f"The reply called a tool, so `{name}` became None, even if its type does not allow None.",
                name,
            )


MOST_VALIDATORS = 3
MOST_ECHOED = 500


def unchecked(reading: Reading) -> Iterator[Flag]:
    """Flag each output in the reply whose type has its own validators."""
    for name, field in reading.signature.output_fields.items():
        found = reading.fields.get(name) if field.unchecked else None
        if found is not None and found.state in ("read", "failed"):
            code = ", ".join(field.unchecked[:MOST_VALIDATORS]) + (
                ", …" if len(field.unchecked) > MOST_VALIDATORS else ""
            )
            yield Flag(
                "unchecked-by-its-code",
                f"Uncertain: dspy also runs {code} on `{name}`, which may refuse or change it; a source is read here "
                "and never run.",
                name,
            )


MAY_ECHO = re.compile(r"\s*[\"{N]").match
ECHOED_NOTE = "# note: the value you produce"
MAY_FILL, NOTE = "Not supplied for this", "# note"
FILLERS = ("Not supplied for this particular example.", "Not supplied for this conversation history message.")


def _may_echo(reading: Reading) -> bool:
    """Return whether a reply may hold a placeholder in braces, a filler or a note, also as escapes."""
    text, is_json = reading.completion, reading.form == "json"
    if len(text) > LONG_SEARCH or "&" in text or MAY_FILL in text or NOTE in text or reading.form not in STRUCTURE:
        return True
    if "\\" in text and reading.may_hold_escaped_signs:
        return True
    if text.find("{", is_json) < 0:  # the first one is that of the object
        return False
    return not is_json or not reading.is_plain_object or any(f"{{{name}}}" in text for name in reading.fields)


def echoed(reading: Reading) -> Iterator[Flag]:
    """Flag fields that repeat the prompt's placeholder `{name}` or text for missing values."""
    outputs = reading.signature.output_fields
    for name, found in reading.fields.items():
        place, value = found.place, found.value
        if place is None or found.state not in ("read", "failed") or name not in outputs:
            continue
        is_text = type(value) is str
        if found.state == "read" and not (MAY_ECHO(value) if is_text else MAY_ECHO(found.completion, *place)):
            continue
        given = value if is_text else found.completion[place[0] : min(place[1], place[0] + MOST_ECHOED)]
        text = given[:MOST_ECHOED].strip().strip('"')
        if found.state == "read" and text[:1] not in "{N":
            continue
        rest = text.removeprefix(f"{{{name}}}")
        if rest != text and (not rest or rest.lstrip().startswith(ECHOED_NOTE)):
            message = (
                f"`{name}` is the placeholder {{{name}}} of the prompt: the model repeated the format, not a value."
            )
            yield Flag("placeholder-echoed", message, name)
        elif found.state == "failed" and ECHOED_NOTE in text:
            message = f"`{name}` has the prompt's own note behind the value ({ECHOED_NOTE} …), copied by the model."
            yield Flag("placeholder-echoed", message, name)
        elif text in FILLERS:
            message = f"`{name}` is dspy's text for a value that a demo or turn lacks ({text}), copied by the model."
            yield Flag("filler-echoed", message, name)


COERCIONS_OF = attrgetter("coercions")
STRUCTURE: Mapping[ReplyForm, Detector] = {
    "markers": chat_structure,
    "json": json_structure,
    "fenced json": fenced_json_structure,
    "xml": xml_structure,
}
"""Detectors of structural flags, by form of reply."""


def detectors_of(reading: Reading, of_causes: bool = False) -> list[Detector]:
    """Return the detectors that may find something in a parse result: of the reply, then of its values.

    `of_causes`: without those whose flags are no causes of its verdict.
    """
    error, states = reading.error, reading.states
    has_values = error is None or reading.has_values
    found: list[Detector] = []
    if error is not None and (not has_values or reading.ended is not UNKNOWN_END or error.type == "TooLargeError"):
        found.append(no_answer)
    if states.count("read") < len(states) if error is None else not of_causes:
        found.append(verdict)
    structure = STRUCTURE.get(reading.form)
    if structure is not None and not (of_causes and not has_values and reading.is_prose):
        found.append(structure)
    found.append(strange_reply)
    if not has_values:
        return found
    if any(map(COERCIONS_OF, reading.fields.values())):
        found.append(repaired_json)
    if error is None or error.field is None or not of_causes:
        found.append(values_read)
    if "failed" in states:
        found.append(values_refused)
    if _may_echo(reading):
        found.append(echoed)
    if not of_causes:
        found.append(unchecked)
    return found


def explain(reading: Reading) -> tuple[Flag, ...]:
    """Return the flags of a parse result, each name once per place; never raises.

    For TwoStep: the flags of the extraction's reply, which provides the fields.
    """
    if reading.extraction is not None:
        return explain(reading.extraction)
    return _found(reading, detectors_of(reading))


def grounds(reading: Reading) -> tuple[Flag, ...]:
    """Return the flags that can explain a parse error or a surprise, without most others."""
    known: tuple[Flag, ...] | None = reading.detected.get(grounds)
    if known is None:
        known = reading.detected[grounds] = _found(reading, detectors_of(reading, of_causes=True), of_causes=True)
    return known


def _found(reading: Reading, detectors: Iterable[Detector], of_causes: bool = False) -> tuple[Flag, ...]:
    found: list[Flag] = []
    known = reading.detected
    for detect in detectors:
        flags: list[Flag | Detector] | None = known.get(detect)
        if flags is None:
            flags = []
            try:
                flags += detect(reading)
            except Exception:  # a user's type may raise in its own hooks; skip the rest of this detector
                pass
            known[detect] = flags  # whole, as another thread may look at it
        for flag in flags:
            if isinstance(flag, Flag):
                found.append(flag)
            elif not of_causes:
                found += _found(reading, (flag,))
    if len(found) < 2:
        return tuple(found)
    each: dict[tuple[str, str | None, str], Flag] = {}
    for flag in found:
        each.setdefault((flag.name, flag.field, flag.path), flag)
    return tuple(each.values())
