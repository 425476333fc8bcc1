"""Find changes of format that leave the content alone, in prompts and in parse results.

They appear when another release of dspy, adapter or model handles the same signature, demos and inputs. Names, values
and the contents of JSON or XML are abstracted, so that a change has the same key in every fixture and adapter.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from sessions.causes.cause import CauseKind, Key
from sessions.checking.verdicts import Edit, cut
from sessions.text_diff import common_ends

LONGEST = 300
"""The maximum length of a text in a key; the rest adds nothing to the description of the change."""
LONGEST_SAID = 110
"""The maximum length of a text in a sentence."""
BLANKS, TYPE, MEMBERS, VALUE, MOVED, IN_TURNS = "blanks", "type", "members", "value", "moved", "in turns"
SCHEMA_KEYS, SCHEMA_FORM, QUOTES, FIELD, PARTS = "schema keys", "schema form", "quotes", "field", "parts"
PARAMETER, OTHER_SCHEMA, NO_PROMPT = "parameter", "other schema", "no prompt"
REFUSED, READ, ERROR, READ_AS = "refused", "read", "error", "read as"

_OF_A_FIELD: Mapping[str, str] = {
    "marker": "the marker of a field",
    "description": "the description of a field",
    "constraint": "the constraint of a field",
    "schema": "the schema of a field",
    "filler": "the note on what is missing",
    "name": "the name of a field",
}
_OF_A_MESSAGE: Mapping[str, str] = {"reminder": "the reminder", "instructions": "the instructions"}
_HELD = ("description", "constraint", "schema", "value", "filler", "reminder", "instructions")
"""Kinds of text from the signature or data: a key records their presence, not their content."""
_ARGUMENTS = re.compile(r"([\w.]+)(\[.*\])?\s*$", re.DOTALL)
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_OPENS, _CLOSES = re.compile(r"<[A-Za-z_]"), re.compile(r"</[\w.:-]+>")
_IS_EMPTY = re.compile(r"<[A-Za-z_][\w.:-]* ?/>")


def turns_of(turn: str) -> str:
    """Return a phrase for all messages of a turn's kind: `demo 3` belongs to "demos"."""
    kind = turn.partition(" ")[0]
    known = {"system": "the system message", "demo": "demos", "history": "history turns", "inputs": "the last message"}
    return known.get(kind, "another message")


def abstract(text: str, names: Collection[str], *, with_tags: bool = False) -> str:
    """Replace field names by `field`, JSON by `{…}` and XML elements by `<…>`. Return a line.

    `with_tags` keeps tags, for text in which a tag itself marks a field.
    """
    found = "".join([piece if said else "{…}" for piece, said, _ in _split_json(text)])
    if not with_tags:  # `<…>` for the text from the first to the last tag, and for each later empty element
        opened, closed = _OPENS.search(found), deque(_CLOSES.finditer(found), maxlen=1)
        is_element = opened is not None and bool(closed) and closed[0].start() >= opened.end()
        head = f"{found[: opened.start()]}<…>" if is_element and opened is not None else ""
        found = head + _IS_EMPTY.sub("<…>", found[closed[0].end() :] if is_element else found)
    for name in sorted(names, key=len, reverse=True):
        # Replace names in marks only; elsewhere a name may be a word of the sentence.
        found = re.sub(rf"(?<=[`{{</\"]){re.escape(name)}(?=[`}}>\"])|(?<=## ){re.escape(name)}(?= ##)", "field", found)
    found = re.sub(r"`field`(, (then |and )?`field`)+", "`field` …", " ".join(found.split()))
    return found if len(found) <= LONGEST else f"{found[: LONGEST - 1]}…"


def _split_json(text: str) -> Iterator[tuple[str, bool, Any]]:
    """Split a text into prose (True) and JSON objects or arrays (False) with their values."""
    decoder, position, start = json.JSONDecoder(), 0, 0
    for found in re.finditer(r'\{(?=\s*["}])|\[(?=\s*["{\]])', text):
        if found.start() < position:
            continue
        try:
            value, end = decoder.raw_decode(text, found.start())
        except ValueError:
            continue
        except RecursionError:  # too deep for a schema; searching inside could take minutes
            break
        yield text[start : found.start()], True, None
        yield text[found.start() : end], False, value
        start = position = end
    yield text[start:], True, None


def schemas_in(text: str) -> list[Any]:
    """Return the JSON values contained in a text."""
    return [value for _, said, value in _split_json(text) if not said]


def key_of(edit: Edit, by: CauseKind, *, is_part: bool = True) -> Key:
    """Return the key of a change. Texts are already `abstract`, except types, schemas and values.

    With `is_part`, the texts are changes within a piece instead of whole pieces.
    """
    origin, before, after = edit.origin, edit.before, edit.after
    if "".join(before.split()) == "".join(after.split()):
        return Key(by, BLANKS, "", "")
    if {before, after} == {"names", "values"}:
        return Key(by, MEMBERS, before, after)
    if origin.kind == "type" and before and after:
        return Key(by, TYPE, *_types(before, after))
    if origin.kind == "schema" and before and after:
        return _schema_key(before, after, by)
    if origin.kind == "value":
        return Key(
            by, VALUE, *(_shapes(before, after) if before and after else (before and "there", after and "there"))
        )
    is_held = origin.kind in _HELD and not is_part and not (before and after)
    ends = (before and "there", after and "there") if is_held else (_shortest(before, after), _shortest(after, before))
    if origin.field is not None:
        return Key(by, _OF_A_FIELD.get(origin.kind, f"the {origin.kind} of a field"), *ends)
    return Key(by, f"{IN_TURNS}: {turns_of(origin.turn)} · {_OF_A_MESSAGE.get(origin.kind, '')}", *ends)


def moved(edit: Edit, into: str, by: CauseKind) -> Key:
    """Return the key of a piece that moved to the turn `into`."""
    what = _OF_A_MESSAGE.get(edit.origin.kind, "a piece of text")
    return Key(by, f"{MOVED}: {what}", turns_of(edit.origin.turn), turns_of(into))


def _types(before: str, after: str) -> tuple[str, str]:
    old, new = _ARGUMENTS.match(before), _ARGUMENTS.match(after)
    if old is None or new is None:
        return before, after
    if old[1] != new[1]:
        return f"{old[1]}{'[…]' if old[2] else ''}", f"{new[1]}{'[…]' if new[2] else ''}"
    if bool(old[2]) is not bool(new[2]):
        return ("list[…]", "list") if old[2] else ("list", "list[…]")
    return before, after


def _schema_key(before: str, after: str, by: CauseKind) -> Key:
    """Return the key of a schema change: keywords lost or gained, else the changed form."""
    old, new = schemas_in(before), schemas_in(after)
    if old and len(old) == len(new):
        lost, gained, other = schema_changes(old, new)
        if lost or gained:
            return Key(by, SCHEMA_KEYS, ", ".join(sorted(lost)), ", ".join(sorted(gained)))
        return Key(by, OTHER_SCHEMA, ", ".join(sorted(other)), "")
    if bool(old) is not bool(new):
        return Key(by, SCHEMA_FORM, _schema_form(before), _schema_form(after))
    if before.replace('"', "") == after.replace('"', ""):
        return Key(by, QUOTES, "with" * ('"' in before), "with" * (before.count('"') < after.count('"')))
    return Key(by, "the schema of a field", _shortest(before, after), _shortest(after, before))


def _schema_form(text: str) -> str:
    if schemas_in(text):
        return "a JSON schema"
    return "nested XML" if text.strip().startswith("<") else "a text"


def schema_changes(before: object, after: object, is_names: bool = False) -> tuple[set[str], set[str], set[str]]:
    """Return the keywords that a JSON schema lost and gained, and those with a changed value."""
    lost: set[str] = set()
    gained: set[str] = set()
    other: set[str] = set()
    if isinstance(before, dict) and isinstance(after, dict):
        gone = {"a property"} if is_names else {key for key in before if key not in after}
        come = {"a property"} if is_names else {key for key in after if key not in before}
        lost |= gone if any(key not in after for key in before) else set()
        gained |= come if any(key not in before for key in after) else set()
        for key in before:
            if key not in after:
                continue
            names = not is_names and key in ("properties", "$defs", "definitions")
            one, two, three = schema_changes(before[key], after[key], names)
            lost |= one
            gained |= two
            other |= {key} if three == {""} else three
        if list(before) != list(after) and not (lost or gained):
            other.add("the order of keys")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for old, new in zip(before, after, strict=True):
            for own, found in zip((lost, gained, other), schema_changes(old, new), strict=True):
                own |= found
    elif before != after:
        other.add("")
    return lost, gained, other


def _shapes(before: str, after: str) -> tuple[str, str]:
    old, new = _shape(before), _shape(after)
    if old != new:
        return old, new
    for one, other, ends in ((before, after, ("\\u", "as it is")), (after, before, ("as it is", "\\u"))):
        if _ESCAPE.search(one) and _ESCAPE.sub(lambda found: chr(int(found[1], 16)), one) == other:
            return ends
    return "otherwise", "otherwise"


def _shape(text: str) -> str:
    stripped = text.strip()
    if not stripped:
        return ""
    is_json = bool(schemas_in(stripped))
    if "<<CUSTOM-TYPE-START" in stripped:
        return f"{'JSON' if is_json else 'text'} in the mark of a custom type"
    if is_json:
        return "JSON"
    return "nested XML" if stripped.startswith("<") and stripped.endswith(">") else "text"


def _shortest(text: str, beside: str) -> str:
    """Return the part of `text` that `beside` lacks, from the first to the last differing word."""
    if not beside or not text:
        return text
    words, others = text.split(" "), beside.split(" ")
    head, tail = common_ends(words, others)
    return " ".join(words[head : len(words) - tail])


def is_of_writing(key: Key) -> bool:
    """Return whether this module created the key."""
    return key.name.partition(": ")[0] in _SENTENCES or key.name in _OF_A_FIELD.values()


def plain_words(key: Key) -> str:
    """Describe a change without a final period: "types are written `Union[…]`, no longer `UnionType[…]`"."""
    what, before, after = key.name, key.before, key.after
    kind, _, of = what.partition(": ")
    said = _SENTENCES.get(kind, "")
    if isinstance(said, tuple):
        new, gone, different = said
        said = different if before and after else new
        if before and not after:
            said = gone
    if said:
        return said.format(of, _cut(before), _cut(after)) if isinstance(said, str) else said(of, before, after)
    if what == _OF_A_FIELD["marker"] and before and after:
        return f"fields are marked `{_cut(after)}`, no longer `{_cut(before)}`"
    if "there" in (before, after):
        return f"{what} {'came into' if after else 'left'} the prompt"
    if not (before and after):
        return f"{what} {'gained' if after else 'lost'} {_quoted(after or before)}"
    return f"{what} is {_quoted(after)}, no longer {_quoted(before)}"


def _types_in_words(_: str, before: str, after: str) -> str:
    if {before, after} == {"list", "list[…]"}:
        whole = after == "list[…]"
        return f"types are written {'with their item types' if whole else 'alone'}, `{after}` and no longer `{before}`"
    return f"types are written `{_cut(after)}`, no longer `{_cut(before)}`"


def _turns_in_words(of: str, before: str, after: str) -> str:
    turns, _, what = of.partition(" · ")
    if "there" in (before, after):
        return f"{turns} {'gained' if after else 'lost'} {what}"
    where = f"{what} in {turns}" if what else turns
    if not (before and after):
        return f"{where} {'gained' if after else 'lost'} {_quoted(after or before)}"
    return f"in {where}, {_quoted(before)} became {_quoted(after)}"


def _values_in_words(_: str, before: str, after: str) -> str:
    if before == after:
        return "values are written in another way"
    if "as it is" in (before, after):
        now, then = ("they are", "`\\u…`") if after == "as it is" else ("`\\u…`", "they are")
        return f"letters beyond ASCII in values are written as {now}, no longer as {then}"
    return f"values are written as {after}, no longer as {before}"


def _keys_in_words(place: str, before: str, after: str) -> str:
    where = f" in {place}" if place else ""
    said = [f"lost {_named(before)}" if before else "", f"gained {_named(after)}" if after else ""]
    return f"JSON schemas{where} " + " and ".join([one for one in said if one])


def _other_in_words(place: str, before: str, _: str) -> str:
    said = f"the JSON of {place} differs" if place else "JSON schemas differ"
    return f"{said} in {_named(before)}" if before else said


def _named(names: str) -> str:
    return ", ".join([one if one.startswith(("a ", "the ")) else f"`{one}`" for one in names.split(", ")])


Words = Callable[[str, str, str], str]

_SENTENCES: Mapping[str, str | Words | tuple[str, str, str | Words]] = {
    BLANKS: "only blanks or line breaks differ",
    IN_TURNS: _turns_in_words,
    MEMBERS: "an Enum shows the {2} of its members, no longer their {1}",
    SCHEMA_FORM: "the form of a field is shown as {2}, no longer as {1}",
    QUOTES: (
        "members of a Literal are in quotes",
        "members of a Literal have no quotes",
        "members of a Literal are in quotes",
    ),
    OTHER_SCHEMA: _other_in_words,
    TYPE: _types_in_words,
    VALUE: ("values came into the prompt", "values left the prompt", _values_in_words),
    MOVED: "{0} moved from {1} into {2}",
    SCHEMA_KEYS: _keys_in_words,
    FIELD: (
        "a field left the prompt: a native feature of the model takes its place",
        "a field came into the prompt, whose place a native feature of the model took",
        "",
    ),
    PARAMETER: ("`{0}` is sent too: {2}", "`{0}` is no longer sent (was {1})", "`{0}` is {2}, no longer {1}"),
    NO_PROMPT: lambda _, before, after: (
        "the prompt can no longer be made" if after == "none" else "the prompt can be made now"
    ),
    PARTS: "messages with an image or a file are {2}, no longer {1}",
    REFUSED: lambda _, before, after: f"replies that were read are refused: {after}",
    READ: lambda _, before, after: f"replies that were refused ({before}) are read{after and f', {after}'}",
    ERROR: "replies that cannot be read raise {2}, no longer {1}",
    READ_AS: (
        "a field that a reply lacks is read as {2}",
        "a field that was read is no longer among the values",
        "a value is read as {2}, no longer as {1}",
    ),
}
"""The sentence for each kind of change, of its place (0), the text before (1) and after (2); or the sentences for what
is new, what is gone, and what changed."""


def _cut(text: str) -> str:
    return cut(text, LONGEST_SAID)


def _quoted(text: str) -> str:
    return f"“{_cut(text)}”"
