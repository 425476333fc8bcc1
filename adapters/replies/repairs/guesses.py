"""What a reply was probably meant to be, the likeliest guess first."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, get_args

from adapters.replies.reading import Reading, ReplyForm
from adapters.replies.repairs.finding import (
    MARKER,
    between_tags,
    by_sound,
    fields_within,
    objects,
    under_labels,
    under_markers,
    without_fence,
    without_thinking,
)
from adapters.replies.repairs.guess import Guess, as_json, as_sections, as_tags, escaped, names_by_sound, sound
from adapters.replies.repairs.values import value_guesses
from adapters.replies.sections import sections

WRITERS: Mapping[ReplyForm, Callable[[Mapping[str, Any]], str]] = {
    "markers": as_sections,
    "json": as_json,
    "xml": as_tags,
    "fenced json": lambda values: f"```json\n{as_json(values)}\n```",
}
BARE_AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-fA-F]{1,6});)")
HTML_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)[A-Za-z]\w{1,30};")
BARE_LESS_THAN = re.compile(r"<(?!/?[A-Za-z_]|!\[CDATA\[)")
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
NAMESPACE = re.compile(r"\sxmlns(?::\w{1,50})?=(?:\"[^\"<>]{0,300}\"|'[^'<>]{0,300}')")
FULL_WIDTH = str.maketrans("：，｛｝［］＂“”", ':,{}[]"""')


def guesses(reading: Reading) -> Iterator[Guess]:
    """Guesses for a reply of a known form; none for others."""
    own = OF_FORM.get(reading.form)
    if own is None:
        return
    text = reading.completion
    yield from value_guesses(reading)
    yield from own(reading)
    answer = without_thinking(text)
    if answer:
        yield Guess("The reply thinks first: without everything up to </think> it reads", answer)
    inner = without_fence(text)
    if inner is not None and reading.form != "fenced json":
        yield Guess("A code fence stands around the whole reply; without it it reads", inner)
    yield from _other_formats(reading)
    yield from _bare_value(reading)


def _bare_value(reading: Reading) -> Iterator[Guess]:
    text, signature = reading.completion.strip(), reading.signature
    if len(signature.output_fields) != 1 or "[[" in text or "</" in text or not text:
        return
    ((name, field),) = signature.output_fields.items()
    takes_any_text = field.annotation in (str, Any) or str in get_args(field.annotation)
    if not takes_any_text and (reading.form != "xml" or "<" not in text):
        yield Guess(
            f"The reply seems to be the bare value of `{name}`; as such it reads", _written(reading, {name: text})
        )


def _written(reading: Reading, values: Mapping[str, Any]) -> str:
    return WRITERS[reading.form](values)


def _other_formats(reading: Reading) -> Iterator[Guess]:
    """The output fields found in the format of another adapter, written in that of this one."""
    text, signature = reading.completion, reading.signature
    write = WRITERS[reading.form]
    found: list[tuple[str, Mapping[str, Any]]] = []
    if reading.form != "markers":
        found.append(("The reply is in the format of the Chat adapter", under_markers(text, signature)))
    if reading.form not in ("json", "fenced json"):
        for one in reversed(objects(text)):
            found.append(("The reply is in the format of the JSON adapter", fields_within(one, signature)))
    if reading.form != "xml":
        found.append(("The reply is in the format of the XML adapter", between_tags(text, signature)))
    found.append(("The reply has the fields under headings or labels", under_labels(text, signature)))
    for message, values in found:
        if values:
            yield Guess(f"{message}; written as this adapter wants it, it reads", write(values))


def _chat(reading: Reading) -> Iterator[Guess]:
    text, signature = reading.completion, reading.signature
    names = names_by_sound(signature) | {"completed": "completed"}
    seen: list[str] = []

    def plain(match: re.Match[str]) -> str:
        name = names.get(sound(match["name"]))
        exact = f"[[ ## {name} ## ]]"
        begins = match.start() == 0 or text[match.start() - 1] == "\n"
        if name is None or (match.group() == exact and begins):
            return match.group()
        seen.append(match.group().strip())
        return f"{'' if begins else chr(10)}{exact}"

    mended = MARKER.sub(plain, text)
    if seen:
        yield Guess(
            f"{seen[0]!a} was probably meant as a marker: markers stand at the beginning of a line, exactly as "
            "[[ ## name ## ]]",
            mended,
        )
    found = sections(text)
    last: dict[str, str] = {}
    for section in found:
        if section.name in signature.output_fields:
            last[section.name] = section.text
    if last and len(found) > len(last):
        yield Guess("Some fields are answered more than once; with the last answer of each it reads", as_sections(last))


def _json(reading: Reading) -> Iterator[Guess]:
    text, signature = reading.completion, reading.signature
    write = WRITERS[reading.form]
    found = objects(text)
    names = list(signature.output_fields)
    for one in found:
        here = by_sound(one, signature)
        if here and any(key not in names for key in one):
            yield Guess(
                "The keys are written otherwise than the fields; with the fields' own names it reads", write(here)
            )
    for one in found:
        deeper = fields_within(one, signature)
        if deeper and not by_sound(one, signature):
            wrapper = next(iter(one))
            yield Guess(
                f"The object with the fields stands one level down, in {wrapper!a}; by itself it reads", write(deeper)
            )
    for one in reversed(found):
        here = by_sound(one, signature)
        if here and len(found) > 1:
            yield Guess("The reply holds several {…}; the last one with the fields reads", write(here))
            break
    opening = text.find("[")
    is_list = opening >= 0 and not text[:opening].strip("`json \n") and MARKER.match(text, opening) is None
    if len(names) == 1 and is_list:
        closing = text.rfind("]") + 1
        whole = f'{{"{names[0]}": {text[opening:closing]}}}'
        mended = f"```json\n{whole}\n```" if reading.form == "fenced json" else whole
        yield Guess(f"The list is probably `{names[0]}` itself; as an object with that key it reads", mended)
    yield Guess("With ASCII punctuation in the place of full-width signs it reads", text.translate(FULL_WIDTH))
    merged: dict[str, Any] = {}
    for one in found:
        merged.update(by_sound(one, signature))
    if len(found) > 1 and merged:
        yield Guess("The fields stand in several {…}; in one object they read", write(merged))


def _xml(reading: Reading) -> Iterator[Guess]:
    text, signature = reading.completion, reading.signature
    for name in signature.output_fields:
        text = re.sub(rf"<(/?){re.escape(name)}(?=[\s/>])", rf"<\1{name}", text, flags=re.IGNORECASE)
    if text != reading.completion:
        yield Guess("Tags are case-sensitive; with the fields' own names it reads", text)
    clean = HTML_ENTITY.sub(lambda match: html.unescape(match.group()), text)
    clean = BARE_LESS_THAN.sub("&lt;", BARE_AMPERSAND.sub("&amp;", clean)).replace("]]>", "]]&gt;")
    if clean != text and "<![CDATA[" not in text:
        yield Guess("With & and < in the text written as &amp; and &lt; it reads", clean)
    plain = CONTROL.sub("", re.sub(r"<\?xml[^<>]{0,200}\?>", "", NAMESPACE.sub("", clean)))
    if plain != clean:
        yield Guess("Without declarations, namespaces and control characters it reads", plain)
    inner = _without_wrapper(plain)
    if inner is not None:
        yield Guess("A tag stands around all the others; without it it reads", inner)
    opened = [name for name in signature.output_fields if f"<{name}>" in plain and f"</{name}>" not in plain]
    if opened:
        yield Guess(
            f"<{opened[-1]}> is never closed; closed at the end it reads",
            plain + "".join(f"</{name}>" for name in reversed(opened)),
        )
    tags = between_tags(plain, signature)
    if tags:
        kept = "\n".join(f"<{name}>{escaped(html.unescape(inside))}</{name}>" for name, inside in tags.items())
        yield Guess("With what stands between the fields' tags taken as plain text it reads", kept)


def _without_wrapper(text: str) -> str | None:
    opening = re.search(r"<([A-Za-z_][\w.\-]{0,100})(?:\s[^<>]{0,500})?>", text)
    if opening is None:
        return None
    end = text.rfind(f"</{opening.group(1)}>")
    return text[opening.end() : end].strip() if end > opening.end() else None


OF_FORM: Mapping[ReplyForm, Callable[[Reading], Iterator[Guess]]] = {
    "markers": _chat,
    "json": _json,
    "fenced json": _json,
    "xml": _xml,
}
