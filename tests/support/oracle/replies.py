"""Replies of a model: well-formed ones from dspy's own formatting, then spoilt in the ways real replies are."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

from oracle import signatures
from oracle import vocabulary as words
from oracle.corpus import cases
from oracle.engines import theirs
from oracle.specs import Built

BREAKS = ("\r\n", "\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029")
LONGEST_RAW = 400


def reply(rng: random.Random, name: str, built: Built) -> str:
    """A reply as the adapter asks for it, with none to four things wrong."""
    text = _well_formed(rng, name, built)
    for _ in range(rng.choice((0, 0, 1, 1, 1, 2, 2, 4))):
        text = rng.choice(MUTATIONS + _OF_ADAPTER.get(name, ()))(rng, text, built)
    return text


def _well_formed(rng: random.Random, name: str, built: Built) -> str:
    roll = rng.random()
    if roll < 0.03:
        return raw(rng)
    style = name if name != "twostep" else rng.choice(("chat", "json"))
    values = {name: _printable(one) for name, one in signatures.outputs(rng, built).items()}
    if roll < 0.45 and values:
        return _written(
            rng, style, {field: _raw_text(rng) if rng.random() < 0.4 else values[field] for field in values}, built
        )
    try:
        return str(theirs(style).format_assistant_message_content(built.theirs, values))
    except Exception:  # values that dspy cannot write make no reply
        return _written(rng, style, dict.fromkeys(values, "x"), built)


def _written(rng: random.Random, style: str, values: dict[str, Any], built: Built) -> str:
    """Field texts laid out by hand, as a model writes them: nothing escaped."""
    if style == "chat":
        end = "\n\n[[ ## completed ## ]]" if rng.random() < 0.8 else ""
        return "\n\n".join(f"[[ ## {name} ## ]]\n{value}" for name, value in values.items()) + end
    if style == "xml":
        return "\n".join(f"<{name}>{value}</{name}>" for name, value in values.items())
    return "{" + ", ".join(f'"{name}": {_as_json(rng, value)}' for name, value in values.items()) + "}"


def _printable(value: Any) -> Any:
    try:
        str(value)
    except Exception:
        return "x"
    return value


def _as_json(rng: random.Random, value: Any) -> str:
    text = str(value)
    quoted = '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
    return rng.choice((text, quoted, quoted, f'"{text}"'))


_RAWS: list[str] = []


def raw(rng: random.Random) -> str:
    """One of the few hundred raw texts of the stored value cases."""
    if not _RAWS:
        texts = {one["raw"]: None for one in cases("value_cases") if isinstance(one["raw"], str)}
        _RAWS.extend(text for text in texts if len(text) <= LONGEST_RAW)
    return rng.choice(_RAWS)


def _raw_text(rng: random.Random) -> str:
    return raw(rng) if rng.random() < 0.7 else rng.choice(words.TEXTS)


Mutation = Callable[[random.Random, str, Built], str]


def _place(rng: random.Random, text: str) -> int:
    return rng.randint(0, len(text))


def _insert(*pieces: str) -> Mutation:
    def inserted(rng: random.Random, text: str, built: Built) -> str:
        at = _place(rng, text)
        return text[:at] + rng.choice(pieces) + text[at:]

    return inserted


def _replace(old: str, new: str, most: int = 3) -> Mutation:
    def replaced(rng: random.Random, text: str, built: Built) -> str:
        places = [match.start() for match in re.finditer(re.escape(old), text)]
        for at in sorted(rng.sample(places, min(len(places), rng.randint(1, most))), reverse=True):
            text = text[:at] + new + text[at + len(old) :]
        return text

    return replaced


def _wrap(before: str, after: str) -> Mutation:
    return lambda rng, text, built: before + text + after


def _truncate(rng: random.Random, text: str, built: Built) -> str:
    return text[: _place(rng, text)]


def _drop_start(rng: random.Random, text: str, built: Built) -> str:
    return text[rng.randint(0, min(6, len(text))) :]


def _delete(rng: random.Random, text: str, built: Built) -> str:
    at = _place(rng, text)
    return text[:at] + text[at + rng.randint(1, 8) :]


def _repeat(rng: random.Random, text: str, built: Built) -> str:
    start = _place(rng, text)
    end = min(len(text), start + rng.randint(1, 60))
    return text[:end] + text[start:end] + text[end:]


def _twice(rng: random.Random, text: str, built: Built) -> str:
    return text + rng.choice(("", "\n", " ", ", ", "\n\n")) + text


def _two_different(rng: random.Random, text: str, built: Built) -> str:
    return text + "\n" + _well_formed(rng, rng.choice(("chat", "json", "xml")), built)


def _shuffle_lines(rng: random.Random, text: str, built: Built) -> str:
    lines = text.split("\n")
    rng.shuffle(lines)
    return "\n".join(lines)


def _indent(rng: random.Random, text: str, built: Built) -> str:
    by = rng.choice(("  ", "\t", "    ", "> ", "- ", "\u00a0", "\u3000"))
    return "\n".join(by + line if rng.random() < 0.6 else line for line in text.split("\n"))


def _breaks(rng: random.Random, text: str, built: Built) -> str:
    brk = rng.choice(BREAKS)
    return "".join(brk if one == "\n" and rng.random() < 0.7 else one for one in text)


def _swap_case(rng: random.Random, text: str, built: Built) -> str:
    name = rng.choice(list(built.theirs.output_fields))
    return text.replace(
        name, rng.choice((name.upper(), name.capitalize(), f" {name}", f"{name}s", f"**{name}**")), rng.randint(1, 2)
    )


def _noise(rng: random.Random, text: str, built: Built) -> str:
    at = _place(rng, text)
    return (
        text[:at]
        + "".join(rng.choice("{}[]()<>\"'`,:#&;/\\\n\t *_-=x1é\u200b\ud800\x00\x1b") for _ in range(rng.randint(1, 5)))
        + text[at:]
    )


def _raw_inserted(rng: random.Random, text: str, built: Built) -> str:
    at = _place(rng, text)
    return text[:at] + _raw_text(rng) + text[at:]


MUTATIONS: tuple[Mutation, ...] = (
    _truncate,
    _truncate,
    _drop_start,
    _delete,
    _delete,
    _repeat,
    _twice,
    _two_different,
    _shuffle_lines,
    _indent,
    _breaks,
    _breaks,
    _swap_case,
    _noise,
    _noise,
    _raw_inserted,
    _wrap("```json\n", "\n```"),
    _wrap("```\n", "\n```"),
    _wrap("Sure! Here is the answer:\n\n", ""),
    _wrap("", "\n\nHope this helps! {x} [y] <z>"),
    _wrap("<think>let {me} see [[ ## x ## ]]</think>\n", ""),
    _wrap("\ufeff", ""),
    _wrap("  \n", "  \n"),
    _wrap('"', '"'),
    _wrap("[", "]"),
    _insert("\u200b", "\ufeff", "\ud800", "\x00", "\x1b[31m"),
    _insert("\n", "\r\n", "\u2028"),
    _insert("&", "<", ">", "&lt;", "&#x41;", "&bogus;", "]]>"),
    _insert("\\", "\\n", "\\u00e9", "\\ud83d", '"', "'"),
    _insert("// note\n", "/* c */", "# c\n", "<!-- c -->"),
    _insert("...", "…", "null", "NaN"),
    _replace('"', "'"),
    _replace('"', "\u201d"),
    _replace('"', ""),
    _replace(": ", "："),
    _replace(",", ""),
    _replace(",", ",,"),
    _replace("\\n", "\n"),
    _replace("}", ",}"),
    _replace("]", ",]"),
    _replace("true", "True"),
    _replace("null", "None"),
    _replace("false", "FALSE"),
    _replace("\n", " "),
    _replace("]", ""),
    _replace("}", ""),
    _replace("{", "{{"),
    _replace("&amp;", "&"),
    _replace("&lt;", "<"),
)


def _marker(rng: random.Random, built: Built) -> str:
    name = rng.choice([*built.theirs.output_fields, *built.theirs.input_fields, "completed", "other"])
    return rng.choice(
        (
            "[[ ## {} ## ]]",
            "[[## {} ##]]",
            "**[[ ## {} ## ]]**",
            "[[ ## {} ## ]",
            "[[ ## {} ## ]]:",
            "  [[ ## {} ## ]] same line",
        )
    ).format(name)


def _marker_inserted(rng: random.Random, text: str, built: Built) -> str:
    at = _place(rng, text)
    return text[:at] + rng.choice(("", "\n")) + _marker(rng, built) + rng.choice(("", "\n", " tail\n")) + text[at:]


def _marker_moved(rng: random.Random, text: str, built: Built) -> str:
    return _replace(" ## ]]\n", rng.choice((" ## ]] ", " ## ]]", " ## ]]:\n", " ## ]] **\n", "## ]]\n", " ## ]]\t\n")))(
        rng, text, built
    )


def _object_wrapped(rng: random.Random, text: str, built: Built) -> str:
    return rng.choice(
        ('{{"result": {}}}', "[{}]", '{{"a": 1}} {}', '"{}"', "({})", "answer = {};", '{}, {{"x": 2}}', '["{{", {}]')
    ).format(text)


def _key_added(rng: random.Random, text: str, built: Built) -> str:
    name = rng.choice([*built.theirs.output_fields, "extra"])
    return text.replace("{", f'{{"{name}": {_as_json(rng, _raw_text(rng))}, ', 1)


def _keys_unquoted(rng: random.Random, text: str, built: Built) -> str:
    return re.sub(r'"(\w+)":', r"\1:", text, count=rng.randint(1, 3))


def _element_added(rng: random.Random, text: str, built: Built) -> str:
    name = rng.choice([*built.theirs.output_fields, "item", "entry", "extra"])
    element = rng.choice(
        (
            "<{0}>x</{0}>",
            "<{0}/>",
            "<{0} a='1'>y</{0}>",
            "<{0}><item>1</item><item>2</item></{0}>",
            "<entry key='{0}'>z</entry>",
            "<{0}><![CDATA[<b>&]]></{0}>",
            "<?pi x?>",
            "<!DOCTYPE x>",
            "<{0}><b>bold</b> tail</{0}>",
            "<ns:{0}>n</ns:{0}>",
            "<{0}>",
            "</{0}>",
            '<{0}>{{"a": [1]}}</{0}>',
            "<{0}>[1, 2]</{0}>",
            "<{0} xmlns='u'>x</{0}>",
        )
    ).format(name)
    at = rng.choice((0, len(text), _place(rng, text)))
    return text[:at] + element + text[at:]


_OF_ADAPTER: dict[str, tuple[Mutation, ...]] = {
    "chat": (_marker_inserted, _marker_inserted, _marker_moved, _marker_moved, _object_wrapped),
    "json": (_object_wrapped, _object_wrapped, _key_added, _key_added, _keys_unquoted),
    "baml": (_object_wrapped, _key_added, _keys_unquoted),
    "xml": (_element_added, _element_added, _element_added, _wrap("<response>", "</response>"), _swap_case),
}
