"""Find model calls in pasted text: dspy's parse errors, `inspect_history()`, entries of `lm.history`.

The text may come from a terminal, a log or an issue: colours, quote marks, fences and JSON escapes are removed.
"""

from __future__ import annotations

import ast
import itertools
import json
import re
import textwrap
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from typing import Any

from adapters.late_dataclasses import dataclass
from sessions.errors import SessionError
from sessions.imports.reading import decoded, text_of

ERROR_MARK = "Expected to find output fields in the LM response:"
_SHORT_MARK = "Expected to find output fields:"  # as reports quote it
_ADAPTER = re.compile(r"Adapter (\w+) failed to parse the LM response\.\s*")
_REPLY = "LM Response:"
_DSPYS = "Your input fields are:"
_EXPECTED = re.compile(rf"\s*{re.escape(ERROR_MARK)}\s*\[([^\]]*)\]")
_ACTUAL = re.compile(r"\s*Actual output fields parsed(?: from the LM response)?:\s*\[([^\]]*)\]")
_MESSAGES = re.compile(r"(?:\A|\n|AdapterParseError: |[\"'(])(Failed to parse |LM response cannot |The LM returned )")
_COLOURS = re.compile(
    r"^[ \t]*\x1b?\[3[14]m([^\n]*?(?:message:|Response:|Tool calls:|[]>]|completions\)))\x1b?\[0m$"
    r"|^[ \t]*\x1b?\[32m((?:(?!^[ \t]*\x1b?\[3[124]m).)*?)\x1b?\[0m$",  # linear, since none is within another
    re.MULTILINE | re.DOTALL,
)
_ANSI = re.compile(r"\x1b\[[\d;:]*m")
_DSPYS_RESET = re.compile(r"(?:message|Response):\x1b?\[0m$", re.MULTILINE)
_HEADER = r"(?:(System|Developer|User|Assistant|Tool) message:|(Response):)"
_HEADERS = re.compile(rf"(?:\A\s*|(?<=\]\n\n)|(?<=\n\n\n)|^[`~]{{3,}}\w*\n\n?(?!\n)){_HEADER}\n\n", re.MULTILINE)
_LOOSE_HEADERS = re.compile(rf"^[ \t]*(?=[A-Z])(?:[A-Z][a-z]+ed )?(?i:{_HEADER})[ \t]*(?:\n|\Z)", re.MULTILINE)
_TIMES = re.compile(r"^`?\[(\d{4}-\d\d-\d\dT[\d:.+]+|Unknown time)\][ \t]*$", re.MULTILINE)
_OTHERS = re.compile(r"\n[ \t]*\(and \d+ other completions\)\s*\Z")
_QUOTED = re.compile(rf"^>.*(?:{re.escape(ERROR_MARK)}|Response:[ \t]*$)", re.MULTILINE)
_PYTEST = re.compile(r"^E(?=[ \t]|$)", re.MULTILINE)
_INLINE_CODE = re.compile(r"(?:^|[^`])`(?=\[\d{4}-)")
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n`]*$", re.MULTILINE)
_COMPLETED = re.compile(r"^\[\[ ## completed ## \]\](?=\s*\n[ \t]*[`~]{3,}[ \t]*$)", re.MULTILINE)
_TOOL_CALLS = re.compile(r"^Tool calls:\n\n+(?=\S+: )", re.MULTILINE)
_TOOL_CALL = re.compile(r"(\S+): (.*)")
_INDENTED = re.compile(r"^([ \t]+)(?:System|Developer|User) message:[ \t]*\n\s*?\n?\1\S", re.MULTILINE)
_PYTHON = re.compile(
    r"""(?:^[ \t]*(?:[\w.\[\]-]+[ \t]*[=:][ \t]*)?|`)"""
    r"""(?=(?:\[\s*)?\{\s*['"](?:prompt|messages|model|role|cost)['"]: )""",
    re.MULTILINE,
)
_SHOWN_OBJECTS = re.compile(
    r"""(\'{3}.*?\'{3}|"{3}.*?"{3}|'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")"""
    r"|<class '[^'<>]*'>|<[^<>'\"\n]* at 0x[0-9a-fA-F]+>|<[\w.]+: [^<>\n]*>",
    re.DOTALL,
)
"""Strings, and what Python prints in angle brackets for a class, an object or a member of an enum."""
_FORMAT = re.compile(r'"format"\s*:\s*\d')
_ENDS = re.compile(r"\n[ \t]*(?:\n|[`~]{3})")
_FAILED_VALUE = re.compile(
    r"Failed to parse field (\w+) with value ((?:(?!Failed to parse ).)+?) from the LM response\.[\s#>]+Error message: "
)
_NO_REPLY = re.compile(rf"Expected dict_keys\(|Failed to parse field \w|{re.escape(ERROR_MARK)}")


@dataclass(frozen=True)
class FoundError:
    """The text of a parse error: `adapter` is "" if unknown, `message` is the paragraph before the error."""

    adapter: str
    reply: str
    expected: tuple[str, ...]
    actual: tuple[str, ...] | None = None
    """The outputs that dspy found; None if the text does not list them."""
    message: str = ""
    guesses: tuple[str, ...] = ()


@dataclass(frozen=True)
class FoundCalls:
    """Entries in the form of `lm.history`, the assumptions about them, and what was left out."""

    entries: tuple[Mapping[str, Any], ...]
    guesses: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def holds_calls(text: str) -> bool:
    """Return, quickly, whether a text may hold an error or a printed call; terminals paste `\\r` as line ends."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if (
        ERROR_MARK in text
        or _ADAPTER.search(text)
        or _FAILED_VALUE.search(text)
        or ("outputs" in text and _PYTHON.search(text))
        or (text.lstrip()[:1] in ("[", "{") and '"outputs"' in text and '"messages"' in text)
    ):
        return True
    headers = _LOOSE_HEADERS.findall(_without_colours(text))
    return len(headers) > 1 or (len(headers) == 1 and _DSPYS in text)


def calls_at(path: str) -> str:
    """Return the text of a file that holds calls in place of a session, else ""."""
    try:
        text = text_of(path)
    except SessionError:
        return ""
    # A session may quote an error in its notes and recordings, and keep the call that it was made of.
    is_session = text.lstrip().startswith("{") and ('"outputs"' not in text or _FORMAT.search(text) is not None)
    return "" if is_session or not holds_calls(text) else text


def _without_colours(text: str) -> str:
    """Strip the colours that `inspect_history()` prints; if a terminal drew them anew, strip all colours."""
    return _COLOURS.sub(r"\1\2", text if _DSPYS_RESET.search(text) else _ANSI.sub("", text))


def names_error(text: str) -> bool:
    """Return whether a text names a parse error of dspy, perhaps without its reply, as before dspy 2.6."""
    return _NO_REPLY.search(text) is not None


def errors_in(text: str) -> tuple[FoundError, ...]:
    """Find dspy's parse errors in order; an error repeated in a traceback counts once."""
    found: list[FoundError] = []
    text = text.replace(_SHORT_MARK, ERROR_MARK)
    for candidate in _readings(text):
        for error in _errors(candidate):
            if not any((one.reply, one.expected) == (error.reply, error.expected) for one in found):
                found.append(error)
        if found:
            break
    value = None if found else _FAILED_VALUE.search(text)
    if value is not None:
        guess = "the error's text ends before the reply: the reply is made from the value in it"
        message = text[value.start() :].split("\n\n")[0].strip()
        return (FoundError("", f"[[ ## {value[1]} ## ]]\n{value[2]}", (value[1],), None, message, (guess,)),)
    return tuple(found)


def _readings(text: str) -> Iterator[str]:
    """Yield the possible original texts: strings in JSON; else the text unescaped, and without quote marks."""
    if ERROR_MARK not in text and _REPLY not in text:
        return
    from adapters.replies.forms import leaves  # loads pydantic

    for line in (text, *text.splitlines()):
        if line.lstrip()[:1] in '{["':
            try:
                strings = [one for one in leaves(json.loads(line)) if isinstance(one, str) and _REPLY in one]
            except (ValueError, RecursionError):
                continue
            if strings:
                yield "\n\n\n".join(strings)
                return
    plain = _ANSI.sub("", _unquoted(text))
    if "\n" not in plain[plain.find(_REPLY) : plain.rfind(ERROR_MARK)] and "\\n" in plain:
        yield _unescaped(plain)
    yield plain


def _unescaped(text: str) -> str:
    """Undo the escapes of a JSON or Python string that was copied without its quotes."""
    names = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "'": "'", "\\": "\\", "/": "/"}
    return re.sub(
        r"\\(u[0-9a-fA-F]{4}|[ntr\"'\\/])",
        lambda found: chr(int(found[1][1:], 16)) if found[1][0] == "u" else names[found[1]],
        text,
    )


def _unquoted(text: str) -> str:
    """Normalise line ends to `\\n`; remove Markdown's quote marks and indentation common to all lines."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if re.search(rf"^E[ \t].*(?:{re.escape(_REPLY)}|{re.escape(ERROR_MARK)})", text, re.MULTILINE):
        failed = "\n".join(line for line in text.split("\n") if _PYTEST.match(line))
        text = textwrap.dedent(_PYTEST.sub(" ", failed))
    lines = [line for line in text.split("\n") if line.strip()]
    if _QUOTED.search(text) or (lines and all(line.startswith(">") for line in lines)):
        text = re.sub(r"^> ?", "", text, flags=re.MULTILINE)
    return textwrap.dedent(text) if lines and all(line.startswith((" ", "\t")) for line in lines) else text


def _errors(text: str) -> Iterator[FoundError]:
    starts = list(_ADAPTER.finditer(text)) or list(re.finditer(r"\A", text))
    ends = [*(one.start() for one in starts[1:]), len(text)]
    for start, end in zip(starts, ends, strict=True):
        part = text[start.end() : end]
        at = part.find(_REPLY)
        expected = list(_EXPECTED.finditer(part, max(at, 0)))
        if at < 0 or (not expected and (at > 0 or start.re is not _ADAPTER)):
            continue
        guesses = []
        if start.re is _ADAPTER and at > 0:
            guesses.append("other text is between the error's first line and its reply")
        if expected:
            # dspy writes " \n\n" after the reply; if that was lost, trailing white space of the reply was lost, too.
            last = expected[-1]
            reply = part[at + len(_REPLY) : last.start(1)].rpartition(ERROR_MARK)[0]
            reply = reply.removesuffix(" \n\n") if reply.endswith(" \n\n") else reply.rstrip()
            names = _listed(last[1])
            named = _ACTUAL.match(part, last.end())
            actual = None if named is None else _listed(named[1])
            if len(expected) > 1:
                guesses.append("the reply may end earlier: it quotes an error's text")
        else:
            reply = re.split(
                r"\n(?=Traceback \(most|During handling of|The above exception)", part[at + len(_REPLY) :]
            )[0]
            reply, names, actual = reply.rstrip(), (), None
            guesses.append("the error's text ends with the reply, which may be cut off")
        adapter = start[1] if start.re is _ADAPTER else ""
        # The paragraph directly before dspy's sentence; it says why a value is invalid
        before = text[: start.start()]
        places = list(_MESSAGES.finditer(before)) if before.endswith("\n\n") else []
        message = before[places[-1].start(1) :].strip() if places else ""
        yield FoundError(adapter, reply.removeprefix(" "), names, actual, message, tuple(guesses))


def _listed(names: str) -> tuple[str, ...]:
    return tuple([name.strip() for name in names.split(",") if name.strip()])


def history_in(text: str) -> FoundCalls:
    """Find the calls printed by `inspect_history()`, oldest first."""
    if not re.search(r"(System|User) message:", text):
        return FoundCalls(())
    guesses: list[str] = []
    if "\r\n" in text and re.search(r"(?<!\r)\n", text):
        guesses.append("lines end in \\r\\n and in \\n: \\n is used for all")
    text = _of_a_page(_without_colours(_unquoted(text)))
    headers = _HEADERS
    if not any(one[2] for one in headers.finditer(text)) and not _TOOL_CALLS.search(text):
        headers = _LOOSE_HEADERS
        guesses.append("the blank lines of `inspect_history()` are lost: a message may begin or end elsewhere")
    entries: list[dict[str, Any]] = []
    messages: list[dict[str, Any]] = []
    times = list(_TIMES.finditer(text))
    starts = [one.start() for one in times]
    places: list[re.Match[str]] = []
    for place in headers.finditer(text):
        is_quoted = bool(starts and places) and places[-1][2] is not None
        if not is_quoted or bisect_left(starts, places[-1].end()) < bisect_left(starts, place.start()):
            places.append(place)  # else it is in the reply, because each call begins with its time
    for number, place in enumerate(places):
        following = places[number + 1].start() if number + 1 < len(places) else len(text)
        content = text[place.end() : following]
        if place[2] is None:
            content, calls = _split_tool_calls(content)
            messages.append({"role": place[1].lower(), "content": content.strip()})
            if calls and place[1].lower() != "assistant":  # a reply of tool calls alone has no header
                entries.append({"messages": messages, "outputs": [{"text": None, "tool_calls": calls}], "kwargs": {}})
                messages = []
            elif calls:
                messages[-1]["tool_calls"] = calls
            continue
        if messages:
            content, calls = _split_tool_calls(content)
            reply = _reply_in(content, text[: places[0].end()], guesses)
            output = {"text": reply, "tool_calls": calls} if calls else reply
            entries.append({"messages": messages, "outputs": [output], "kwargs": {}})
        messages = []
    if entries and messages:
        guesses.append("messages after the last reply are left out: they have no reply, or belong to the last one")
    if not entries and any(_DSPYS in one["content"] for one in messages):
        messages[-1]["content"] = _reply_in(messages[-1]["content"], text[: places[0].end()], guesses)
        is_answered = messages[-1]["role"] == "assistant"
        outputs = {"outputs": [messages.pop()["content"]]} if is_answered else {}
        entries.append({"messages": messages} | outputs)
        guesses.append(f"the text has no reply{': its last message is taken as the reply' if is_answered else ''}")
    for entry in entries:
        made = [call for one in entry["messages"] for call in one.get("tool_calls", ())]
        for number, call in enumerate(made, 1):
            call["id"] = f"call_{number}"
        results = [one for one in entry["messages"] if one["role"] == "tool"]
        for one, call in zip(results, made, strict=False):
            one |= {"tool_call_id": call["id"], "name": call["function"]["name"]}
    if any("tool_calls" in message for one in entries for message in one["messages"]):
        guesses.append("the ids of tool calls are not printed: results belong to the calls in their order")
    if len(times) == len(entries):
        for entry, stamp in zip(entries, times, strict=True):
            entry["timestamp"] = stamp[1]
    return FoundCalls(tuple(entries), tuple(dict.fromkeys(guesses)))


def _of_a_page(text: str) -> str:
    """Return the indented blocks with printed messages of a page, such as a notebook as Markdown.

    Below a message at the margin, indented lines belong to the message.
    """
    indented = _INDENTED.search(text)
    if indented is None or _HEADERS.search(text):
        return text
    blocks = re.split(rf"^(?!{indented[1]}|[ \t]*$).*$", text, flags=re.MULTILINE)
    kept = [one.strip("\n") for one in blocks if _LOOSE_HEADERS.search(one)]
    return re.sub(rf"^{indented[1]}", "", "\n\n\n".join(kept), flags=re.MULTILINE)


def _split_tool_calls(content: str) -> tuple[str, list[dict[str, Any]]]:
    """Return a text without the tool calls printed below it, and these in OpenAI's form."""
    place = _TOOL_CALLS.search(content)
    if place is None:
        return content, []
    lines = map(_TOOL_CALL.fullmatch, filter(str.strip, content[place.end() :].split("\n")))
    calls = [one.groups() for one in itertools.takewhile(bool, lines) if one is not None]
    made = [{"type": "function", "function": {"name": name, "arguments": text}} for name, text in calls]
    return content[: place.start()], made


def _reply_in(content: str, before: str, guesses: list[str]) -> str:
    """Cut off what follows the reply: the next call's time, more completions, tool calls, a closing fence."""
    following = list(_TIMES.finditer(content))
    if following:
        content = content[: following[-1].start()]
    content = _OTHERS.sub("", content.rstrip()) if _OTHERS.search(content) else content
    if _INLINE_CODE.search(before):
        content = re.split(r"`[ \t]*(?:\n|\Z)", content, maxsplit=1)[0]
    fences = list(_FENCE.finditer(content)) if _FENCE.search(before) else []
    if fences and (completed := _COMPLETED.search(content)):
        return content[: completed.end()].strip()
    if len(fences) > 1:
        guesses.append("the reply may end at an earlier line of backquotes")
    ends = fences[-1:] if len(fences) % 2 else [one for one in fences[::2] if following and one[0].strip() == one[1]]
    if ends:
        content = content[: ends[0].start()]
    return content.strip()


def literals_in(text: str) -> FoundCalls:
    """Find entries of `lm.history` as Python or JSON Lines, or one call's messages; nothing is evaluated.

    A page may show them between other text, and a program may name them.
    """
    text = text.strip().strip("`")
    shown = _PYTHON.search(text) if text[:1] not in ("[", "{") else None
    text = text[shown.end() :] if shown else text
    if text[:1] not in ("[", "{") or not ("outputs" in text or "'role': " in text):
        return FoundCalls(())
    if not isinstance(decoded(text), str):
        return FoundCalls(())
    if '"outputs"' in text:
        logged = [decoded(line) for line in text.splitlines() if line.strip()]
        if all(isinstance(one, dict) and {"messages", "outputs"} <= one.keys() for one in logged):
            return FoundCalls(tuple(logged))
    for part in (text, _ENDS.split(text, maxsplit=1)[0]) if shown else (text,):
        left_out: dict[str, None] = {}
        try:
            first = ast.parse(_SHOWN_OBJECTS.sub(lambda found: found[1] or "shown", part)).body[0]
            data = _written(first.value, "", left_out) if isinstance(first, ast.Expr) else None
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        entries: list[Any] = data if isinstance(data, list) else [data]
        told = (f"left out, because no code is run: {', '.join(left_out)}",) if left_out else ()
        if entries and all(isinstance(one, dict) and {"role", "content"} <= one.keys() for one in entries):
            return FoundCalls(({"messages": entries},), notes=told)
        if entries and all(isinstance(one, dict) and "outputs" in one for one in entries):
            return FoundCalls(tuple(entries), notes=told)
    return FoundCalls(())


_LEFT_OUT = object()


def _written(node: ast.expr, place: str, left_out: dict[str, None]) -> Any:
    """Return the JSON that an expression writes out; note the places of other code.

    `Usage(tokens=1)` becomes an object, because it shows its values by name.
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int | float | None):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        return ast.literal_eval(node)  # a negative number
    if isinstance(node, ast.List | ast.Tuple):
        each = [_written(one, place, left_out) for one in node.elts]
        return [one for one in each if one is not _LEFT_OUT]
    if isinstance(node, ast.Dict):
        pairs = [(str(getattr(key, "value", "")), one) for key, one in zip(node.keys, node.values, strict=True)]
    elif isinstance(node, ast.Call) and not node.args:
        pairs = [(one.arg or "", one.value) for one in node.keywords]
    else:
        left_out[place or "an entry"] = None
        return _LEFT_OUT
    made = {key: _written(one, f"{place}.{key}".lstrip("."), left_out) for key, one in pairs}
    return {key: one for key, one in made.items() if one is not _LEFT_OUT}
