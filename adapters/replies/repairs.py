"""Find fields in a reply of any format, and correct rejected values."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeGuard, get_args, get_origin

from adapters.replies.flag import shown
from adapters.replies.forms import FORMS
from adapters.replies.sections import markers_like, only_mentions_tags, sound
from adapters.signatures.signature import Signature, without_none

if TYPE_CHECKING:
    from adapters.replies.reading import Reading


class Guess(NamedTuple):
    """A suggested correction: its description and the corrected reply."""

    message: str
    mended: str


@lru_cache(maxsize=256)
def names_by_sound(signature: Signature) -> Mapping[str, str]:
    """Map normalized names (without case, spaces, hyphens, underscores) to output fields."""
    return MappingProxyType({sound(name): name for name in signature.output_fields})


@lru_cache(maxsize=256)
def names_by_case(signature: Signature) -> Mapping[str, str]:
    """Map names without their case to output fields."""
    return MappingProxyType({name.casefold(): name for name in signature.output_fields})


@lru_cache(maxsize=256)
def markers_by_sound(signature: Signature) -> Mapping[str, str]:
    """Map normalized names to markers of the Chat format: the output fields, and the end."""
    return MappingProxyType({**names_by_sound(signature), COMPLETED: COMPLETED})


SEPARATORS = str.maketrans("", "", "\t\n\v\f\r\x1c\x1d\x1e\x1f _-")
"""The signs that `sound` drops from an ASCII text without backslashes."""


def may_name_outputs(reading: Reading) -> bool:
    """Return whether a reply may hold the name of an output in any spelling; fast."""
    known: bool | None = reading.detected.get(may_name_outputs)
    if known is None:
        text = reading.completion
        known = reading.has_values or len(text) > LONGEST or "\\" in text or not text.isascii()
        if not known:
            letters = text.translate(SEPARATORS).lower()
            known = any(name in letters for name in names_by_sound(reading.signature))
        reading.detected[may_name_outputs] = known
    return known


COMPLETED = "completed"
"""The marker at the end of a Chat reply."""
GROUPED = re.compile(r"[-+]?\d{1,3}(?:[,' ]\d{3})+(?:\.\d+)?")
DECIMAL_COMMA = re.compile(r"\s*[-+]?\d[\d.]{0,60},\d{1,2}\s*")
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")
TRUTH = re.compile(r"\W*(true|false|yes|no)\b", re.IGNORECASE)
BOTH = re.compile(
    r"\W*(?:(?:true|yes) ?(?:[|/]|or\b) ?(?:false|no)|(?:false|no) ?(?:[|/]|or\b) ?(?:true|yes))\b", re.IGNORECASE
)
"""Both truth values, as in a prompt's `yes|no`."""
BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+(.*\S)\s*$")
NOTHING = re.compile(
    r"|-+|n/?a\.?|none|null|unknown|"
    r"(?:not|none|nothing) (?:mentioned|given|specified|provided|available|applicable|stated|found)\.?|"
    r"(?:(?:sorry,? |unfortunately,? )?I (?:cannot|can['’]t|could not|am unable to)|cannot|unable to) [^\d\n]{1,200}",
    re.IGNORECASE,
)
"""Words for no value."""


def says_nothing(given: object) -> TypeGuard[str]:
    """Return whether a value is an empty text, or words for no value."""
    return isinstance(given, str) and NOTHING.fullmatch(given.strip()) is not None


LONGEST = 20_000
"""Maximum length of a reply to correct, in characters; every guess is parsed, within the repair steps that the first
parse left."""


def value_guesses(reading: Reading) -> Iterator[Guess]:
    """Yield replies in which the value of the field that failed is corrected."""
    error = reading.error
    if error is None or error.field is None or error.start is None or error.end is None:
        return
    field = reading.signature.output_fields.get(error.field)
    raw = reading.completion[error.start : error.end]
    if field is None or not raw or len(raw) > LONGEST:
        return
    is_json = reading.form in ("json", "fenced json")
    given = _json(raw)
    for message, value in _meant(error.field, field.annotation, given, raw):
        text = value if isinstance(value, str) and not is_json else json.dumps(value, ensure_ascii=False, default=str)
        if reading.form == "xml":
            text = FORMS["xml"].of_text(text)
        yield Guess(message, reading.completion[: error.start] + text + reading.completion[error.end :])


def _json(raw: str) -> Any:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return raw


def without_signs(text: str, annotation: object) -> Any:
    """Return what a line of YAML, or of an object without its braces, has as its value."""
    text = text.strip().removesuffix("```").removesuffix("---").strip()
    items = [BULLET.match(line) for line in text.splitlines()]
    if items and all(items) and get_origin(without_none(annotation)) is list:
        return [_json(one[1]) for one in items if one]
    bare = text.removesuffix(",")
    return _json(bare) if bare != text or bare[:1] == '"' else text


def _meant(name: str, annotation: object, given: object, raw: str) -> Iterator[tuple[str, Any]]:
    inner = without_none(annotation)
    text = given if isinstance(given, str) else raw
    bare = text.strip().strip("\"'`*. ")
    if isinstance(given, dict) and len(given) == 1:
        (key,) = given
        yield f"`{name}` is probably wrapped in {key!a}; by itself it parses as", given[key]
    if get_origin(inner) is Literal or (isinstance(inner, type) and issubclass(inner, Enum)):
        said = shown(text.strip()) if isinstance(given, str) else shown(raw)[1:-1]
        yield from _choice(name, inner, said, bare)
    elif inner is bool and (match := TRUTH.match(text)) and not BOTH.match(text):
        word = "True" if match.group(1).lower() in ("true", "yes") else "False"
        yield f"{shown(text)} probably means {word}, which parses as", word
    elif inner in (int, float):
        yield from _number(text.strip())
    elif get_origin(inner) is list or inner is list:
        lines = [match.group(1) for line in text.splitlines() if (match := BULLET.match(line))]
        if isinstance(given, list) and len(given) == 1 and isinstance(given[0], list):
            yield f"`{name}` is inside a list of its own; without that list it parses as", given[0]
        parts = lines or [part.strip() for part in text.split(",") if part.strip()]
        if isinstance(given, list) and get_args(inner)[:1] == (str,):
            parts = [one if isinstance(one, str) else json.dumps(one) for one in given]
        yield f"As a JSON list `{name}` parses as", [] if NOTHING.fullmatch(text.strip()) else parts


def _choice(name: str, annotation: Any, said: str, bare: str) -> Iterator[tuple[str, Any]]:
    if get_origin(annotation) is Literal:
        allowed = {str(one): one for one in get_args(annotation)}
    else:
        allowed = {str(member.value): member.value for member in annotation}
        allowed |= {member.name: member.value for member in annotation if member.name not in allowed}
        allowed |= {str(member): member.value for member in annotation if str(member) not in allowed}
    wrapped = re.fullmatch(r"(?:Literal|str)\[(.*)\]", bare, re.DOTALL)
    bare = wrapped.group(1).strip("\"' ") if wrapped else bare
    for word, value in allowed.items():
        if sound(word) == sound(bare):
            yield f"{said} probably means {value!a}, which parses as", value
            if not isinstance(value, str) and isinstance(annotation, type):
                yield f"By the name of its member `{name}` parses as", annotation(value).name
            return


def _number(text: str) -> Iterator[tuple[str, Any]]:
    grouped = GROUPED.search(text)
    if grouped:
        plain = re.sub(r"[,' ]", "", grouped.group())
        yield f"{shown(grouped.group())} groups its digits; without separators it parses as", _json(plain)
        return
    if DECIMAL_COMMA.fullmatch(text):
        yield f"{text!a} has a decimal comma; with a point it parses as", _json(text.replace(".", "").replace(",", "."))
    found = NUMBER.findall(text[:2000])
    if len(found) == 1:
        yield f"The only number in {shown(text)} parses as", _json(found[0])


LABEL = re.compile(
    r"[ \t]{0,8}(?:#{1,6}[ \t]{1,4}|[*_]{1,3}|(?:[-•]|\d{1,2}[.)])[ \t])?[*_`]{0,3}(?=[\w \-*`\t]*+(?:[:=>]|##|$))"
    r"(?P<name>\w[\w \-]{0,60}?)[*_`]{0,3}"
    r"(?P<colon>[ \t]{0,2}(?::=?|=>?|->)[*_]{0,3}|[ \t]{1,4}#{2,6}(?![^ \t]|[ \t]*\])|[ \t]*$)"
)
"""A label at the start of a line; the lookahead rejects other lines quickly."""
LINE_BEGINS = re.compile("\n")
BEFORE_A_NAME = r"\n[ \t#*_`\-.)0-9]*"
"""All characters that may come before the name of a label in its line, and more."""
MOST_OPENINGS = 20
DEEPEST = 3
MOST_NESTED = 100
SHOWN = 80


_decode = json.JSONDecoder().raw_decode


def objects(text: str) -> list[tuple[int, dict[str, Any]]]:
    """Find consecutive valid JSON objects in a text, or those of a valid list, with their offsets; else a dict's text.

    A dict as Python writes it has single quotes.
    """
    found: list[tuple[int, dict[str, Any]]] = []
    position = text.find("{")
    for _ in range(MOST_OPENINGS):
        if position < 0:
            break
        try:
            value, end = _decode(text, position)
        except (ValueError, RecursionError):
            end = position + 1
        else:
            found.append((position, value))
        position = text.find("{", end)
    return found if any(one for _, one in found) else _as_dict(text) or found


def _as_dict(text: str) -> list[tuple[int, dict[str, Any]]]:
    start = text.find("{'")
    try:
        value = ast.literal_eval(text[start : text.rindex("}") + 1]) if 0 <= start and len(text) <= LONGEST else None
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return []
    return [(start, value)] if isinstance(value, dict) and all(isinstance(key, str) for key in value) else []


class Nested(NamedTuple):
    """Output fields found inside a JSON value, and the path to their object."""

    path: tuple[str | int, ...]
    fields: dict[str, Any]

    def __str__(self) -> str:
        """Format the path as a person writes it: `choices[0].message`."""
        text = ""
        for step in self.path:
            if isinstance(step, int):
                text += f"[{step}]"
            else:
                text += f".{step}" if text else step
        return ascii(text if len(text) <= SHOWN else text[:SHOWN] + "…")


def fields_within(value: object, signature: Signature) -> Nested:
    """Find the first object with output fields, by normalized name, at most three levels down."""
    level: list[tuple[tuple[str | int, ...], Any]] = [((), value)]
    for _ in range(DEEPEST + 1):
        for path, one in level:
            if isinstance(one, dict) and (found := by_sound(one, signature)):
                return Nested(path, found)
        level = [
            ((*path, step), child)
            for path, one in level
            for step, child in (
                one.items() if isinstance(one, dict) else enumerate(one) if isinstance(one, list) else ()
            )
        ][:MOST_NESTED]
        if not any(isinstance(one, dict | list) for _, one in level):
            break
    return Nested((), {})


def by_sound(given: dict[str, Any], signature: Signature) -> dict[str, Any]:
    """Return the members of an object that match output fields, under the fields' names."""
    names = names_by_sound(signature)
    found: dict[str, Any] = {}
    for key, value in given.items():
        name = names.get(sound(key))
        if name is not None and (name not in found or key == name):
            found[name] = value
    return found


def under_markers(text: str, signature: Signature) -> dict[str, str]:
    """Return the text under the first marker or lookalike of each output field."""
    names = names_by_sound(signature)
    return _between(text, [(one.start, one.end, names.get(sound(one.name))) for one in markers_like(text, names)])


def under_labels(text: str, signature: Signature) -> dict[str, str]:
    """Return the text under headings and labels (`## Answer`, `**Answer:**`, `Answer:`) named like a field."""
    names = names_by_sound(signature)
    marks: list[tuple[int, int, str | None]] = []
    begin = _label_begins(signature) if text.isascii() else LINE_BEGINS
    for start in [match.start() for match in begin.finditer(f"\n{text}".lower() if text.isascii() else f"\n{text}")]:
        end = text.find("\n", start)
        match = LABEL.match(text, start, len(text) if end < 0 else end)
        name = None if match is None else names.get(sound(match["name"]))
        if match is not None and name is not None and match.group().strip(" \t") != match["name"]:
            marks.append((start, match.end(), name))
    return _between(text, marks) if marks else {}


@lru_cache(maxsize=256)
def _label_begins(signature: Signature) -> re.Pattern[str]:
    """Compile a quick test for lines of an ASCII text that may begin with the name of an output."""
    names = ["[ _-]*".join(map(re.escape, name)) for name in names_by_sound(signature)]
    return re.compile(f"{BEFORE_A_NAME}(?:{'|'.join(names)})")


@lru_cache(maxsize=1024)
def opening_tag(name: str) -> re.Pattern[str]:
    """Compile the opening tag of an output, in any case."""
    return re.compile(rf"(?<!<)<{re.escape(name)}(?:\s[^<>]{{0,500}})?(?<!/)>(?!>)", re.IGNORECASE)


def between_tags(text: str, signature: Signature) -> dict[str, str]:
    """Return the text between tags named like output fields, in any case and depth."""
    found: dict[str, str] = {}
    lower = text.lower()
    for name in signature.output_fields:
        opening = opening_tag(name).search(text)
        if opening is None:
            continue
        end = lower.find(f"</{name.lower()}", opening.end())
        found[name] = text[opening.end() : end if end >= 0 else len(text)].strip()
    return found


def _between(text: str, marks: list[tuple[int, int, str | None]]) -> dict[str, str]:
    found: dict[str, str] = {}
    following = [*[start for start, _, _ in marks][1:], len(text)]
    for (_, start, name), end in zip(marks, following, strict=False):
        if name is not None:
            found.setdefault(name, text[start:end].strip())
    return found


BARE_AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-fA-F]{1,6});)")
HTML_ENTITY = re.compile(r"&(?!(?:amp|lt|gt|quot|apos);)[A-Za-z]\w{1,30};")
BARE_LESS_THAN = re.compile(r"<(?!/?[A-Za-z_]|!\[CDATA\[)")
XML_SIGNS = {"&": BARE_AMPERSAND, "<": BARE_LESS_THAN, "]]>": re.compile(r"\]\]>")}
CUT_TAG = re.compile(r"(?:<|&lt;)/?[\w.\-]{0,100}\Z")
ANY_TAG = re.compile(r"<(/?)([A-Za-z_][\w.\-]{0,100})>")
ANY_OPENING = re.compile(r"<([A-Za-z_][\w.\-]{0,100})(?:\s[^<>]{0,500})?>")
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
NAMESPACE = re.compile(r"\sxmlns(?::\w{1,50})?=(?:\"[^\"<>]{0,300}\"|'[^'<>]{0,300}')")


def xml_guesses(reading: Reading) -> Iterator[Guess]:
    """Yield likely intended replies in XML."""
    import html  # half a megabyte, for few replies

    text, signature = reading.completion, reading.signature
    tags = set(_tag_of_output(signature).findall(text))
    if not signature.output_fields.keys() >= tags:
        for name in signature.output_fields:
            text = re.sub(rf"<(/?){re.escape(name)}(?=[\s/>])", rf"<\1{name}", text, flags=re.IGNORECASE)
    if text != reading.completion:
        yield Guess("Tags are case-sensitive; with the fields' own names it parses as", text)
    if "<" not in text and "&lt;" in text:
        yield Guess("The tags are written as &lt;name&gt;; as tags they parse as", html.unescape(text))
    clean = text
    if "&" in text:
        clean = BARE_AMPERSAND.sub("&amp;", HTML_ENTITY.sub(lambda match: html.unescape(match.group()), text))
    clean = BARE_LESS_THAN.sub("&lt;", clean).replace("]]>", "]]&gt;")
    if clean != text and "<![CDATA[" not in text:
        signs = [sign for sign, one in XML_SIGNS.items() if one.search(text)]
        yield Guess(f"With {' and '.join(signs)} in the text escaped it parses as", clean)
    plain = clean
    if reading.error is None or reading.error.field is None or "xmlns" in clean or "<?" in clean:
        plain = CONTROL.sub("", re.sub(r"<\?xml[^<>]{0,200}\?>", "", NAMESPACE.sub("", clean)))
    if plain != clean:
        yield Guess("Without declarations, namespaces and control characters it parses as", plain)
    opening = ANY_OPENING.search(plain)
    end = plain.rfind(f"</{opening.group(1)}>") if opening is not None else -1
    inside = "" if opening is None else plain[opening.end() : max(end, 0)].strip()
    if any(f"<{name}" in inside for name in signature.output_fields):
        yield Guess("A tag wraps all the others; without it the reply parses as", inside)
    if only_mentions_tags(plain):
        return
    opened = [name for name in signature.output_fields if f"<{name}>" in plain and f"</{name}>" not in plain]
    if opened:
        plain = CUT_TAG.sub("", plain)
        last = opened[-1]
        inside = plain.rpartition(f"<{last}>")[2]
        is_text = signature.output_fields[last].annotation is str or not inside.lstrip().startswith("<")
        ends = [*([] if is_text else _inner_ends(inside)), *(f"</{name}>" for name in reversed(opened))]
        yield Guess(f"<{last}> is never closed; closed at the end it parses as", plain + "".join(ends))
    closings = [plain.rfind(f"</{name}>") for name in reading.fields]
    again = ANY_OPENING.search(plain, max(closings)) if min(closings, default=-1) >= 0 else None
    if again is not None and f"</{again[1]}>" not in plain[again.end() :]:
        said = f"<{again[1]}> begins again after all outputs and is never closed; without what follows them"
        yield Guess(f"{said} the reply parses as", plain[: plain.find(">", max(closings)) + 1])
    not_read = [name for name, one in reading.fields.items() if one.state != "read"]
    if plain == reading.completion and plain.isascii():
        not_read = [name for name in not_read if name in tags]
    if any(opening_tag(name).search(plain) for name in not_read):
        texts = between_tags(plain, signature)
        kept = "\n".join(
            f"<{name}>{FORMS['xml'].of_text(html.unescape(inside))}</{name}>" for name, inside in texts.items()
        )
        yield Guess("With the text between the fields' tags taken as plain text it parses as", kept)


@lru_cache(maxsize=256)
def _tag_of_output(signature: Signature) -> re.Pattern[str]:
    """Compile the names of outputs in tags, in any case."""
    return re.compile(rf"</?({'|'.join(map(re.escape, signature.output_fields))})(?=[\s/>])", re.IGNORECASE)


def _inner_ends(text: str) -> list[str]:
    """Return the ends of the tags that a text opens and does not close, such as the last item of a list."""
    names: list[str] = []
    for end, name in ANY_TAG.findall(text):
        if not end:
            names.append(name)
        elif name in names:
            del names[len(names) - 1 - names[::-1].index(name) :]
    return [f"</{name}>" for name in reversed(names)]
