"""Suggest likely intended replies with their parse results, best first."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, get_args

from adapters.json_text.repair_limits import one_reading
from adapters.json_text.repaired_json import repair_json
from adapters.replies.flag import Flag, line, place, shown
from adapters.replies.flags.chat_structure import chat_structure, holds_lookalikes
from adapters.replies.flags.explaining import grounds
from adapters.replies.flags.json_text import JsonText, text_in_quotes, with_escapes, without_fences
from adapters.replies.flags.strange_replies import leaked
from adapters.replies.flags.wrong_places import nearly_right
from adapters.replies.forms import FORMS
from adapters.replies.reading import NearMiss, Reader, Reading, ReplyForm
from adapters.replies.repairs import (
    LONGEST,
    Guess,
    between_tags,
    by_sound,
    fields_within,
    markers_by_sound,
    may_name_outputs,
    objects,
    under_labels,
    under_markers,
    value_guesses,
    without_signs,
    xml_guesses,
)
from adapters.replies.sections import begins_with_marker, markers_like, sound, without_thinking
from adapters.values.plain_json import parts_of


def strip_fence(text: str) -> str | None:
    """Return the content of a fence around the whole text; None without it."""
    stripped = text.strip()
    if not stripped.startswith("```") or not stripped.endswith("```") or len(stripped) < 7:
        return None
    return stripped[:-3].partition("\n")[2].strip()


ESCAPED_KEY = re.compile(r'[{,]\s*\\"')
BARE_KEY = re.compile(r'\s*"[^"\\{}]{1,100}"\s{0,20}:')
IN_TRIPLE_QUOTES = re.compile(r'"""(.*?)"""(?!")', re.DOTALL)
NO_ESCAPE = re.compile(r'(?<!\\)((?:\\\\)*)\\([^"\\/bfnrtu\s])')
"""A backslash that JSON does not know, such as Markdown writes before _."""
NUL = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")
CURLY = "“”"
FULL_WIDTH_SIGNS = f"：，｛｝［］＂{CURLY}"
FULL_WIDTH = str.maketrans(FULL_WIDTH_SIGNS, ':,{}[]"""')


def guesses(reading: Reading) -> Iterator[Guess]:
    """Yield likely intended replies; none for unknown forms."""
    own = OF_FORM.get(reading.form)
    if own is None:
        return
    text = reading.completion
    if reading.error is not None and reading.error.start is not None:
        yield from value_guesses(reading)
    if not reading.has_values and reading.is_prose:
        if may_name_outputs(reading):
            yield from _under_labels(reading)
        yield from _bare_value(reading)
        return
    if reading.has_only_markers and reading.sections:  # nothing of another format
        names = {one.name for one in reading.sections}
        if reading.sections[0].marker_start or len(names) < len(reading.sections) or holds_lookalikes(reading):
            yield from _chat(reading)
        if not names <= reading.fields.keys() and reading.lacking:
            yield from _misspelt(reading)
        yield from _under_labels(reading)
        return
    is_plain = reading.form == "json" and reading.is_plain_object
    if ("\0" in text or "\\" in text) and "nul-in-value" in [flag.name for flag in grounds(reading)]:
        clean = text.replace("\0", "")
        yield Guess("Without U+0000 it parses as", NUL.sub(r"\1", clean) if "json" in reading.form else clean)
    if not is_plain:
        yield from own(reading)
    elif not text.isascii():
        yield from _in_ascii(reading, text)
    if reading.lacking and not _is_clear(reading):
        yield from _misspelt(reading)
    if answer := without_thinking(text):
        yield Guess("The reply thinks first; without its thoughts it parses as", answer)
    if quoted := text_in_quotes(text):
        yield Guess("The whole reply is a JSON string; the text in it parses as", quoted)
    inner = strip_fence(text) if "`" in text and reading.form != "fenced json" else None
    if inner is not None:
        yield Guess("The whole reply is in a code fence; without the fence it parses as", inner)
    if may_name_outputs(reading):
        if not is_plain or "<" in text or "#" in text or "[" in text:
            yield from _other_formats(reading)
        if not is_plain:  # no line of a plain object begins with a label
            yield from _under_labels(reading)
    yield from _bare_value(reading)


NAME: Mapping[ReplyForm, re.Pattern[str]] = {
    "markers": re.compile(r"\[\[ ## (\w{1,100}+)(?= ## \]\])"),
    "json": re.compile(r'"([^"\\]{1,100}+)(?="\s{0,20}:)'),
    "fenced json": re.compile(r'"([^"\\]{1,100}+)(?="\s{0,20}:)'),
    "xml": re.compile(r"</?([A-Za-z_][\w.-]{0,100}+)(?=[\s/>])"),
}
"""Names in replies of each form."""


def _misspelt(reading: Reading) -> Iterator[Guess]:
    """Guess that names nearly like those of missing outputs were meant for them."""
    text, pattern = reading.completion, NAME.get(reading.form)
    if pattern is None:
        return
    is_exact = reading.form == "markers" and not holds_lookalikes(reading)
    names = [one.name for one in reading.sections] if is_exact else pattern.findall(text)
    unknown = dict.fromkeys([one for one in names if one not in reading.fields])
    if not unknown:
        return
    meant = {seen: name for name, seen in nearly_right(reading, reading.lacking, unknown).items()}
    if meant:
        mended = pattern.sub(lambda match: match.group().removesuffix(match[1]) + meant.get(match[1], match[1]), text)
        said = ", ".join([f"{shown(seen)} was probably meant for `{name}`" for seen, name in meant.items()])
        yield Guess(f"{said}; with the fields' own names it parses as", mended)


def _is_clear(reading: Reading) -> bool:
    """Return whether names other than outputs occur only inside values that parsed."""
    if reading.form not in ("xml", "json") or "failed" in reading.states:
        return False
    if reading.form == "xml":
        is_parsed = reading.error is not None and reading.error.field is not None
        return is_parsed and "unknown" not in reading.kinds
    return reading.is_plain_object


def _bare_value(reading: Reading) -> Iterator[Guess]:
    signature = reading.signature
    if len(signature.output_fields) != 1:
        return
    text = reading.completion.strip()
    if "[[" in text or "</" in text or not text:
        return
    ((name, field),) = signature.output_fields.items()
    takes_any_text = field.annotation in (str, Any) or str in get_args(field.annotation)
    if not takes_any_text and (reading.form != "xml" or "<" not in text):
        written = FORMS[reading.form].write_values({name: text})
        yield Guess(f"The reply seems to be the bare value of `{name}`; as such it parses as", written)


REWRITTEN = "written as this adapter wants it, it parses as"


def _other_formats(reading: Reading) -> Iterator[Guess]:
    """Rewrite output fields found in another adapter's format in this adapter's format."""
    text, signature = reading.completion, reading.signature
    found: list[tuple[str, Mapping[str, Any]]] = []
    if reading.form != "markers" and ("#" in text or "[[" in text or "[\\[" in text):
        found.append(("The reply is in the format of the Chat adapter", under_markers(text, signature)))
    if reading.form not in ("json", "fenced json") and "{" in text:
        is_escaped = "\\" in text and ESCAPED_KEY.search(text) is not None
        said = "The reply is in the format of the JSON adapter" + ", its quotes with backslashes" * is_escaped
        for _, one in reversed(objects(text.replace('\\"', '"') if is_escaped else text)):
            found.append((said, fields_within(one, signature).fields))
    if reading.form != "xml" and "<" in text:
        found.append(("The reply is in the format of the XML adapter", between_tags(text, signature)))
    for message, values in found:
        if values:
            yield Guess(f"{message}; {REWRITTEN}", FORMS[reading.form].write_values(values))


def _under_labels(reading: Reading) -> Iterator[Guess]:
    values, outputs = under_labels(reading.completion, reading.signature), reading.signature.output_fields
    if values:
        said = f"The reply has the fields under headings or labels; {REWRITTEN}"
        if reading.completion.lstrip().startswith(("```yaml", "```yml")):
            said = f"The reply is in YAML; {REWRITTEN}"
        plain = {name: without_signs(text, outputs[name].annotation) for name, text in values.items()}
        for one in (values, plain) if plain != values else (values,):
            yield Guess(said, FORMS[reading.form].write_values(one))


def _chat(reading: Reading) -> Iterator[Guess]:
    text, signature = reading.completion, reading.signature
    if holds_lookalikes(reading):
        yield from _markers_meant(text, markers_by_sound(signature))
    found = reading.sections
    first = next(iter(signature.output_fields), "")
    if found and text[: found[0].marker_start].strip() and first not in {section.name for section in found}:
        yield Guess(
            f"There is no marker for `{first}`; with the text before the first marker as its value the reply parses as",
            f"[[ ## {first} ## ]]\n{text}",
        )
    answers = [(section.name, section.text) for section in found if section.name in signature.output_fields]
    last = dict(answers)
    if len(last) < len(answers):
        yield Guess(
            "Some fields are answered more than once; with the last answer of each it parses as",
            FORMS["markers"].write_values(last),
        )


def _markers_meant(text: str, names: Mapping[str, str]) -> Iterator[Guess]:
    seen = ""
    pieces: list[str] = []
    position = 0
    for like in markers_like(text, names):
        name = names.get(sound(like.name))
        written, exact = text[like.start : like.end], f"[[ ## {name} ## ]]"
        if name is None or (written == exact and like.begins_line):
            continue
        seen = seen or written.strip()
        pieces += [text[position : like.start], "" if like.begins_line else "\n", exact]
        position = like.end
    mended = "".join(pieces) + text[position:]
    if seen:
        quoted = "\\".join([ascii(one)[1:-1] for one in seen.split("\\")])  # backslashes stay single
        yield Guess(
            f"'{quoted}' was probably meant as a marker; a marker begins a line and is written exactly "
            "[[ ## name ## ]]. Written so, it parses as",
            mended,
        )


def _json(reading: Reading) -> Iterator[Guess]:
    text, signature = reading.completion, reading.signature
    write = FORMS[reading.form].write_values
    if "\\" in text and (unknown := NO_ESCAPE.search(text)):
        where = place(reading, unknown.start(2) - 1)
        said = f"JSON has no \\{unknown[2]} ({where}): the backslash stays in JSON keys and texts"
        yield Guess(f"{said}; without such backslashes it parses as", NO_ESCAPE.sub(r"\1\2", text))
    placed = _objects(text)
    found = [one for _, one in placed]
    names = list(signature.output_fields)
    is_whole = bool(placed) and placed[0][0] == text.find("{")  # else objects around those found are broken
    fields = [by_sound(one, signature) for one in found]
    if reading.is_other_object and not any(fields) and text.find("{", 1) < 0:
        yield from _in_ascii(reading, text)
        return
    for one, here in zip(found, fields, strict=True):
        if here.keys() - one.keys():
            yield Guess(
                "The JSON keys are not spelled like the fields; with the fields' own names it parses as", write(here)
            )
    for one, here in zip(found, fields, strict=True):
        if not here and (nested := fields_within(one, signature)).path:
            levels = ("one level", "two levels", "three levels")[len(nested.path) - 1]
            where = f"{levels} down" if is_whole else "inside other objects"
            yield Guess(
                f"The object with the fields is {where}, in {nested}; by itself it parses as",
                write(nested.fields),
            )
    for inner in parts_of(found):
        inside = objects(without_fences(inner)) if isinstance(inner, str) and "{" in inner else []
        if inside and (outputs := fields_within(inside[0][1], signature).fields):
            yield Guess("The object is written as text inside another; by itself it parses as", write(outputs))
    for here in reversed(fields):
        if here and (len(found) > 1 or not is_whole):
            yield Guess("The reply contains several {…}; the last with the fields parses as", write(here))
            break
    closed = text
    for flag in grounds(reading):
        if flag.name == "key-inside-a-text":
            closed = re.sub(rf'(?<=[^\s{{}}\[\],:"\\])(?="{flag.field}"\s*:)', '", ', closed)
    if closed != text:
        yield Guess("A text lacks its closing quote; with it the reply parses as", closed)
    escaped = with_escapes(text, JsonText(text).unescaped_quotes)
    if escaped != text and objects(escaped)[:1] and objects(escaped)[0][1].keys() >= set(names):
        where = place(reading, JsonText(text).unescaped_quotes[0])
        yield Guess(f"Quotes inside texts lack a backslash ({where}); with it the reply parses as", escaped)
    if '"""' in text:
        said = "Texts in triple quotes are not JSON; as JSON texts they parse as"
        yield Guess(said, IN_TRIPLE_QUOTES.sub(lambda match: json.dumps(match[1], ensure_ascii=False), text))
    if BARE_KEY.match(text):
        yield Guess("The braces of the object are missing; with them it parses as", f"{{{text.strip().rstrip(',')}}}")
    opening = text.find("[")
    is_list = opening >= 0 and not text[:opening].strip("`json \n") and not begins_with_marker(text, opening)
    if len(names) == 1 and is_list:
        closing = text.rfind("]") + 1
        whole = f'{{"{names[0]}": {text[opening:closing]}}}'
        mended = f"```json\n{whole}\n```" if reading.form == "fenced json" else whole
        yield Guess(f"The list is probably `{names[0]}` itself; as an object with that JSON key it parses as", mended)
    yield from _in_ascii(reading, text)
    merged: dict[str, Any] = {}
    for here in fields:
        merged.update(here)
    if len(found) > 1 and merged:
        yield Guess("The fields are in several {…}; in one object they parse as", write(merged))


def _objects(text: str) -> list[tuple[int, dict[str, Any]]]:
    """Return the objects of a reply with their offsets, or else its broken object as json_repair reads it."""
    placed = objects(text)
    if any(one for _, one in placed) or text.lstrip("`json \n")[:1] != "{":
        return placed
    try:
        value = repair_json(text)
    except (ValueError, RecursionError):
        return placed
    return [(text.find("{"), value)] if isinstance(value, dict) else placed


def _in_ascii(reading: Reading, text: str) -> Iterator[Guess]:
    found = () if text.isascii() else [sign for sign in FULL_WIDTH_SIGNS if sign in text]
    if found:
        said = "With ASCII punctuation instead of full-width signs it parses as"
        if set(found) <= set(CURLY):
            where = line(reading, min([reading.completion.find(sign) for sign in found]))
            said = f"With straight quotes instead of the curly {' '.join(found)} (from {where}) it parses as"
        yield Guess(said, text.translate(FULL_WIDTH))


OF_FORM: Mapping[ReplyForm, Callable[[Reading], Iterator[Guess]]] = {
    "markers": _chat,
    "json": _json,
    "fenced json": _json,
    "xml": xml_guesses,
}


SIGNS_OF_OUTPUTS: Mapping[ReplyForm, str] = {"markers": "[[ ## ", "xml": "<"}
"""Signs that begin every output of a form."""
Quality = tuple[bool, int, int]
"""Success of a parse, the number of outputs that parsed, and, below 0, of flags of a leaked piece of the format."""
MOST_GUESSES = 12
MOST_KEPT = 3

LEAKS = frozenset(
    (
        "completed-marker-in-value",
        "cut-off-marker-in-value",
        "fence-in-value",
        "indented-marker-leaks",
        "marker-in-value",
        "marker-inside-think",
        "nul-in-value",
    )
)
"""Flags for values that contain a piece of the format; a text without them parses better."""


def find(reading: Reading, most: int = MOST_KEPT) -> tuple[NearMiss, ...]:
    """Return the first `most` near misses of a parse result that parse better.

    A guess is kept if it turns an error into a success, parses more fields, or leaves fewer pieces of the format in
    values. For TwoStep: near misses of the extraction's reply. Never raises; skips replies longer than `LONGEST`.
    """
    if reading.extraction is not None:
        return find(reading.extraction, most)
    if reading.reader is None or not reading.completion or len(reading.completion) > LONGEST:
        return ()
    try:
        if reading.ok and _quality(reading, grounds(reading)) == (True, len(reading.fields), 0):
            return ()
        sign = _sign_of_outputs(reading)
        found = (one for one in islice(guesses(reading), MOST_GUESSES) if sign in one.mended)
        first = next(found, None)
        if first is None:
            return ()
        with one_reading(reading.repair_steps):
            return _best(reading, reading.reader, chain((first,), found), most)
    except Exception:  # a user's type may raise in its own hooks; do without near misses
        return ()


def _best(reading: Reading, reader: Reader, found: Iterable[Guess], most: int) -> tuple[NearMiss, ...]:
    kept: list[tuple[Quality, NearMiss]] = []
    best = before = _quality(reading, grounds(reading))
    seen = {reading.completion}
    for guess in found:
        if guess.mended in seen or len(guess.mended) > 2 * LONGEST:
            continue
        seen.add(guess.mended)
        mended = reader.read(reading.signature, guess.mended)
        if (mended.ok, _read(mended)) < best[:2]:
            continue
        structure = chat_structure(mended) if mended.form == "markers" else ()
        quality = _quality(mended, [*leaked(mended), *structure])
        if quality > before and quality >= best and all(mended.values != one.reading.values for _, one in kept):
            kept.append((quality, NearMiss(guess.message, guess.mended, mended)))
            best = quality
        if len(kept) >= most and best[0]:
            break
    kept.sort(key=lambda one: one[0], reverse=True)
    return tuple([one for _, one in kept[:most]])


def _sign_of_outputs(reading: Reading) -> str:
    """Return a sign without which no guess parses better than a reply that lacks it; "" if unknown."""
    error, sign = reading.error, SIGNS_OF_OUTPUTS.get(reading.form, "")
    # another error, as at an unpaired surrogate, may be all that keeps outputs with a default from being filled in
    is_without = error is not None and error.type == "AdapterParseError" and error.start is None
    return sign if is_without and not reading.has_values and sign not in reading.completion else ""


def _read(reading: Reading) -> int:
    return reading.states.count("read")


def _quality(reading: Reading, flags: Iterable[Flag]) -> Quality:
    return reading.ok, _read(reading), -len([flag for flag in flags if flag.name in LEAKS])
