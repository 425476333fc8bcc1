"""Flags for replies that are not answers: wrappers, echoes, error pages, leaked markup."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, get_args, get_origin

from adapters.replies.flag import MOST_NAMES, NOT_SEPARATED, Flag, named, place, shown
from adapters.replies.flags.json_text import JsonText, object_after, text_in_quotes, valid_object_at
from adapters.replies.flags.server_answers import (
    ERROR_TEXT,
    LONGEST_ERROR,
    error_body,
    error_of,
    events,
    in_a_list,
    whole_response,
)
from adapters.replies.flags.wrong_places import known_keys, nearly_right
from adapters.replies.repairs import under_labels
from adapters.replies.sections import is_only_thoughts
from adapters.signatures.signature import Field, Signature, without_none
from adapters.types.recognition import is_named

if TYPE_CHECKING:
    from adapters.replies.reading import Reading

LONGEST = 20_000
ENDING = 80
HARMONY = re.compile(r"<\|(?:channel|start|message|end|return|call)\|>")
CHANNELS = re.compile(rf"(?:^|(?<=\|>))\s*{HARMONY.pattern}", re.MULTILINE)
WRAPPER = re.compile(
    r"</?(?:\w{1,20}:)?(?:invoke|function_calls|tool_call)\b|\bjson_tool_call\b|\[TOOL_CALLS?\]|\[Calling tool\b|"
    r"tool▁calls▁begin|<\|tool_calls?\w{0,20}\|>|<\|START_ACTION\|>|<\s?[|｜]\s?DSML\s?[|｜]\s?[\w-]{1,20}|<\|open\|>|"
    r"\$PARAMETER_(?:NAME|VALUE)\b|<(?:function|parameter)=\w{1,60}|\bdefault_api[:.]\w{1,60}|^[ \t]*call:\w{1,60}\{|"
    r"^[ \t]*<(?:execute_command|use_mcp_tool|attempt_completion|ask_followup_question|tool_code|tool_use)>|"
    r"\[TOOL_REQUEST\]",
    re.MULTILINE,
)
SIGNS_OF_A_CALL = (
    "_call",
    "TOOL_CALL",
    "TOOL_REQUEST",
    "START_ACTION",
    "default_api",
    "<execute_command",
    "<use_mcp",
    "<attempt_",
    "<ask_followup",
    "<tool_",
)
WRAPPER_END = re.compile(r"</(?:\w{1,20}:)?(invoke|function_calls|tool_call|parameter)>[\s\"}\]]{0,20}\Z")
NEXT_PARAMETER = re.compile(r"</(\w{1,60})>(?:\s|\\n){0,20}<(?:\w{1,20}:)?parameter name=")
THOUGHTS = re.compile(
    r"\s*(?:(?:Here['’]s (?:a|my) |My )?thinking process:|(?:Okay|Alright|Hmm),? (?:so )?(?:I need|the user|let)\b|"
    r"Let me (?:think|analy[sz]e|start|look)\b|(?:We|I) need to\b|The user (?:is asking|asks|wants)\b|"
    r"Thought for (?:\d+|a few|a couple of) seconds?\b|已(?:深度)?思考)",
    re.IGNORECASE,
)
ECHOED = re.compile(
    r"^(?:Your (?:input|output) fields are:|All interactions will be structured |In adhering to this structure, your |"
    r"Respond with (?:the corresponding output fields|a JSON object in the following order of fields))",
    re.MULTILINE,
)
PAGE = re.compile(r"\s*(?:<!DOCTYPE html|<html\b)", re.IGNORECASE)
DOUBLED = re.compile(r'\s*(?:```\w*\s*)?(\{\s*(?:\{(?!\w+\}\})|"\{\s*"\w))')
SCHEMA = re.compile(r'"(properties|\$defs)"\s*:\s*\{|"(\$schema)"\s*:')
MARKER = re.compile(r"^[ \t]*\[\[ ## \w{1,60} ## \]\]|\[\[ ## \w{1,60} ## \]\](?=[ \t]*$)", re.MULTILINE)
"""A marker at the beginning or end of a line; one inside a line is quoted."""
CALL = re.compile(
    r'\{\s*(?:"(?:type|id)"\s*:\s*"\w*"\s*,\s*){0,2}(?:"function"\s*:\s*\{\s*)?"(?P<key>name|tool|tool_name|function|action)"'
    r'\s*:\s*"(?P<tool>[^"\\]{1,60})"\s*,\s*"(?:parameters|arguments|args|tool_args|tool_input|action_input)"\s*:|'
    r"<\|python_tag\|>(?P<tagged>\w{1,60})"
)
REACT = re.compile(
    r"^(Thought|Action|Action Input|Observation|Final Answer|AI)(?: \d{1,2})?(?:[ \t]*:|[ \t]*$)", re.MULTILINE
)
STOP_TOKENS = (
    "</s>",
    "<|im_end|>",
    "<|eot_id|>",
    "<|endoftext|>",
    "<|end|>",
    "<|end_of_text|>",
    "<eos>",
    "<end_of_turn>",
)
LAST_TOKENS = re.compile(rf"(?:(?:{'|'.join(map(re.escape, STOP_TOKENS))})\s*)+\Z")
LONGEST_STOPS = 100
"""Characters at the end of a value in which its stop tokens are counted."""
NEXT_TURN = re.compile(
    r"(<\|(?:end|im_end|eot_id)\|>)\s*<\|(?!(?:end|im_end|eot_id|endoftext|end_of_text)\|)\w{1,40}\|>|(<end_of_turn>)\s*<start_of_turn>"
)
"""A stop token and the beginning of another turn in a model's chat template."""
ENDS_OF_TURNS = ("<|end|>", "<|im_end|>", "<|eot_id|>", "<end_of_turn>")
BEFORE_AN_OBJECT = "`json \n"
"""The characters of a fence around an object."""
IN_QUOTES = Flag("json-in-a-string", "The whole reply is one JSON string: the object is written as text inside it.")
LONGEST_PERIOD = 400
REPEATS = 10
REPEATS_IN_A_CUT = 5
COMPARED = 30
SHORTEST_LOOP = 2 * COMPARED
"""The characters that a loop has at least."""
LONGEST_REST = 150
"""Characters after the last repetition, in which the reply was cut off."""
BLANKS = 100
"""Trailing white space characters that count as a loop."""


def strange_reply(reading: Reading) -> Iterator[Flag]:
    """Yield flags for replies that contain more or less than an answer, however they parsed."""
    # One character is found ten times quicker than two: it is asked for first.
    text = reading.completion
    start = text[:LONGEST]
    first, has_values = start.lstrip()[:1], reading.error is None or reading.has_values
    is_prose = not has_values and reading.is_prose
    has_signs = not is_prose and (reading.form != "markers" or not reading.has_only_markers)
    if has_signs and "|" in start and "<|" in start and (match := (CHANNELS if reading.ok else HARMONY).search(start)):
        yield Flag(
            "harmony-channels",
            f"The reply has the channel markup of gpt-oss ({match.group().strip()}, {place(reading, match.start())}): "
            + NOT_SEPARATED,
        )
    if (" fields" in start or "structure" in start) and (match := ECHOED.search(start)):
        yield Flag("prompt-echoed", f"The reply repeats the prompt ({place(reading, match.start())}).")
    if has_signs:
        if "</think>" in start:
            yield from _end_of_thoughts(reading, start, first)
        may_double = first in ("{", "`") and reading.form in ("json", "fenced json") and not reading.is_plain_object
        if may_double and (match := DOUBLED.match(start)):
            where = place(reading, match.start(1))
            said = f"The object begins with two braces ({where}), as in a format string's template; JSON has one."
            if '"' in match[1]:
                said = f'The object begins twice, {{"{{" ({where}); JSON begins with one brace.'
            yield Flag("doubled-brace", said)
        if has_values:
            yield from leaked(reading)
    if reading.error is not None:
        yield from _no_answer(reading, start, first, is_prose, has_signs)
        if (loop := _repetition(reading)) is not None:
            yield loop
        return
    if (reading.ended.finish_reason == "length" or _is_open(reading)) and (loop := _repetition(reading)) is not None:
        yield loop
    further = NEXT_PARAMETER.search(text) if "<" in text and "parameter name=" in text else None
    if further is not None and further[1] in reading.fields:
        said = f"`{further[1]}` goes on with the next parameter of a tool call ({place(reading, further.start())})"
        yield Flag("tool-call-wrapper", f"{said}: the server did not separate them.", further[1])
    if first in '"`' and reading.form == "json" and text_in_quotes(start):
        yield IN_QUOTES
    elif "</" in text[-ENDING:] and (match := WRAPPER_END.search(text[-ENDING:])) and match[1] not in reading.fields:
        at = max(0, len(text) - ENDING) + match.start()
        opening, where = text.rfind(match[1], 0, at), place(reading, at)
        if any(one.place is not None and one.place[0] <= opening < one.place[1] for one in reading.fields.values()):
            return  # the value opens the tag too
        yield Flag("tool-call-wrapper", f"The reply ends with {match.group().split('>')[0]}> of a tool call ({where}).")


def _end_of_thoughts(reading: Reading, start: str, first: str) -> Iterator[Flag]:
    """Flag thoughts without a beginning before the answer."""
    text, before = reading.completion, start.partition("</think>")[0]
    if (
        before.strip()
        and "<think>" not in before
        and (reading.has_values or not is_only_thoughts(text.strip()))  # else `empty-reply` says so
        and len(before) < next((span.start for span in reading.spans if span.field), LONGEST)
    ):
        where = place(reading, len(before))
        said = f"The reply begins with thoughts, up to </think> ({where}), without <think>"
        if first == "{" and valid_object_at(text, text.find("{")) > len(before):
            said = f"</think>, the end of thoughts, is inside the object ({where})"
        yield Flag("thoughts-not-separated", f"{said}: {NOT_SEPARATED}")


def _is_open(reading: Reading) -> bool:
    """Return whether a reply in JSON ends within its object."""
    text = reading.completion
    if reading.form != "json" or text[-ENDING:].rstrip()[-1:] in ("}", "]", "`"):
        return False
    ends = [one.place[1] for one in reading.fields.values() if one.place]
    return text.find("}", max(ends, default=0)) < 0 and JsonText(text).is_cut_off


def leaked(reading: Reading) -> Iterator[Flag]:
    """Yield flags for pieces of the server's format, or of another prompt's, in values."""
    text = reading.completion
    has_tags = "<" in text
    may_be_marked = "\\" in text and reading.may_hold_escaped_signs
    may_be_marked = may_be_marked or "\0" in text or "|" in text or (has_tags and ("</s>" in text or "<e" in text))
    if not may_be_marked and (reading.form == "markers" or not ("#" in text or "&" in text)):
        return
    may_go_on = has_tags and ("|>" in text or "<end_of_turn>" in text) and any(one in text for one in ENDS_OF_TURNS)
    turn = NEXT_TURN.search(text) if may_go_on else None
    within = "" if turn is None else str(turn[turn.lastindex or 0])
    texts = [
        (name, value)
        for name, one in reading.fields.items()
        if isinstance(value := (one.raw or "").strip('"') if one.state == "failed" else one.value, str)
        and (value[-1:] == ">" or "\x00" in value or "#" in value or (within and within in value))
    ]
    for name, value in texts:
        if turn is not None and NEXT_TURN.search(value):
            said = f"`{name}` goes on after {within}, the model's stop token ({place(reading, turn.start())})"
            yield Flag("stop-token-in-value", f"{said}: the server did not end the reply there.", name)
        elif value.endswith(STOP_TOKENS) and any(value.endswith(one) and one in text for one in STOP_TOKENS):
            stops = LAST_TOKENS.search(value, max(0, len(value) - LONGEST_STOPS))
            ending = "" if stops is None else " ".join(stops[0].split())
            them = "stop token: the server did not remove it"
            if ending not in STOP_TOKENS:
                them = "stop tokens: the server did not remove them"
            yield Flag("stop-token-in-value", f"`{name}` ends with {ending}, the model's {them}.", name)
    for name, value in texts:
        if "\x00" in value:
            said = f"`{name}` contains the character U+0000, which databases such as PostgreSQL reject."
            yield Flag("nul-in-value", said, name)
        if "#" in value and reading.form in ("json", "fenced json", "xml") and (match := MARKER.search(value)):
            said = f"`{name}` contains the marker {match.group().strip()} of the Chat adapter: a marker of another "
            yield Flag("marker-of-another-prompt", f"{said}prompt became part of the value.", name)


def _may_be_wrapped(start: str) -> bool:
    """Return, quickly, whether a text may hold the wrapper of a tool call."""
    return (
        ("[" in start and "alling tool" in start)
        or ("<" in start and ("invoke" in start or "DSML" in start or ("|" in start and "<|open" in start)))
        or ("$" in start and "$PARAMETER_" in start)
        or ("=" in start and ("<function=" in start or "<parameter=" in start))
        or ("_" in start and any(map(start.__contains__, SIGNS_OF_A_CALL)))
        or (":" in start and "call:" in start)
        or (not start.isascii() and "▁calls" in start)
    )


def _may_call(start: str) -> bool:
    """Return, quickly, whether a text may hold a tool call in JSON."""
    if "{" in start and ("arg" in start or '"parameters"' in start or '_input"' in start):
        return '"name"' in start or '"tool' in start or '"function"' in start or '"action"' in start
    return "|" in start and "<|python" in start


def _no_answer(reading: Reading, start: str, first: str, is_prose: bool, has_signs: bool) -> Iterator[Flag]:
    if first == "<" and PAGE.match(start):
        yield Flag("error-page", "The reply is an HTML page: a proxy or server answered in the model's place.")
    outputs = reading.signature.output_fields
    if (
        not is_prose
        and _may_be_wrapped(start)
        and (match := WRAPPER.search(start))
        and match.group().strip()[1:-1] not in outputs
    ):
        where = f"{match.group().strip()}, {place(reading, match.start())}"
        yield Flag("tool-call-wrapper", f"The reply has the wrapper of a provider's tool call ({where}).")
    elif has_signs and _may_call(start) and (match := CALL.search(start)) and match["key"] not in outputs:
        calls = [f"as `{one.name}`" for one in outputs.values() if is_named(one.annotation, "ToolCalls")]
        yield Flag(
            "tool-call-wrapper",
            f"The reply calls the tool {shown(match['tool'] or match['tagged'])} as text "
            f"({place(reading, match.start())}) instead of {(*calls, 'answering')[0]}.",
        )
    if not reading.has_values:
        if has_signs and "<channel|>" in start and start.partition("<channel|>")[0].strip():
            where = place(reading, start.find("<channel|>"))
            said = f"The reply begins with thoughts in the markup of Gemma, up to <channel|> ({where})"
            yield Flag("thoughts-not-separated", f"{said}: {NOT_SEPARATED}")
        written = [f"{{{name}}}" for name in outputs] if has_signs and "{" in start else []
        if written and all(one in start and re.search(rf"[>\]]\s*{re.escape(one)}", start) for one in written):
            placeholders = ", ".join(written[:MOST_NAMES])
            said = f"The reply repeats the placeholders of the prompt ({placeholders}): the format without values."
            yield Flag("placeholder-echoed", said)
        if "Action" in start or "Thought" in start:
            layout = dict.fromkeys(match.group(1) for match in REACT.finditer(start))
            if len(layout) > 1 or ("Action" in layout and "action" not in outputs and start.lstrip()[:6] == "Action"):
                said = f"The reply has the layout of ReAct agents ({', '.join(layout)}), not that of the prompt."
                yield Flag("agent-layout", said)
        if len(start) < LONGEST_ERROR and ERROR_TEXT.match(start):
            yield from error_body(start.strip())
        if first in "dei:" and "data:" in start:
            yield from events(start.lstrip())
        if first not in "<{[":
            match = THOUGHTS.match(start) if first.isalpha() and "</think>" not in start else None
            if match and not is_only_thoughts(reading.completion.strip()):
                said = f"The reply begins like a model's thoughts, {shown(match.group().strip())}, and has no answer"
                where = place(reading, len(reading.completion.rstrip()))
                yield Flag("thoughts-not-separated", f"{said} ({where}).")
            if text_in_quotes(start):
                yield IN_QUOTES
            if ":" in start and (label := made_up_input(reading.signature, start)):
                said = f"After an answer, the reply goes on with a {shown(label[1])} of its own"
                where = place(reading, label.start())
                yield Flag("inputs-made-up", f"{said} ({where}): the model continues the prompt, as base models do.")
    if not has_signs:
        return
    if first == "[":
        yield from in_a_list(start, outputs)
    may_be_an_object = first and first in "{`json" and not reading.is_plain_object
    root = object_after(start, BEFORE_AN_OBJECT) if may_be_an_object else None
    if root is not None:
        yield from _in_root(reading, root)
    if "{" in start and '"type"' in start and not reading.is_flat_object and (match := SCHEMA.search(start)):
        rest = ', not under "properties"' if match.group(1) else ""
        yield Flag(
            "schema-echoed",
            f"The reply repeats the JSON schema ({place(reading, match.start())}): values belong directly under "
            f"their keys{rest}.",
        )


def _in_root(reading: Reading, root: dict[str, object]) -> Iterator[Flag]:
    """Flag an object with other keys than the outputs."""
    outputs = reading.signature.output_fields
    unknown = [key for key in root if key not in outputs]
    is_asked_for = reading.form in ("json", "fenced json")  # else other JSON keys are not what is wrong
    lacking = [name for name in outputs if name not in root]
    near = nearly_right(reading, lacking, unknown) if unknown and is_asked_for else {}
    for name, key in list(near.items()):
        if isinstance(root[key], int | float) and get_origin(without_none(outputs[name].annotation)) in (list, dict):
            del near[name]  # a number is not meant for a list or an object
            continue
        said = f"The JSON key {shown(key)} was probably meant for `{name}`; keys must match exactly."
        yield Flag("key-nearly-right", said, name)
    inner = _holder(root, lacking, len(outputs)) if lacking else None
    if inner is not None:
        yield Flag("json-in-a-string", f"The object is written as text inside the JSON key {shown(inner)}.")
    if len(lacking) == len(outputs):
        whole = whole_response(root)
        if whole is not None:
            yield whole
        error = error_of(root)
        refusal = root.get("refusal")
        if isinstance(refusal, str) and refusal:
            yield Flag("refusal", f"The model refused: {shown(refusal)}.")
        if len(outputs) == 1 < len(root):
            yield from _items_by_key(root, next(iter(outputs.values())))
        keys = [key for key in root if error is None and key not in ("type", "refusal")]
        is_flat = not any(isinstance(one, dict) for one in root.values())
        is_as_many = is_asked_for and len(keys) == len(root) == len(outputs)
        if is_as_many and is_flat and not (near or whole) and inner is None:
            told, only = ", ".join(map(shown, keys[:5])), next(iter(outputs.values()))
            if len(keys) > 1:
                said = f"The reply has the JSON keys {told} instead of {named(list(outputs))}."
                yield Flag("other-keys", said)
            elif only.annotation is str or get_origin(only.annotation) is list:  # else it may be the value itself
                yield Flag("other-keys", f"The JSON key {told} replaces `{only.name}`.", only.name)
        elif is_flat and error is None and not (near or whole) and inner is None and len(outputs) == 1 < len(root):
            yield from _one_item(root, next(iter(outputs.values())))
        yield from error_body(error)


def _one_item(root: dict[str, object], output: Field) -> Iterator[Flag]:
    """Flag one item of a list in the place of the list."""
    (item, *_) = get_args(without_none(output.annotation)) or (None,)
    known = known_keys(item)
    is_item = get_origin(item) is dict if known is None else known.keys() >= root.keys()
    if is_item and get_origin(without_none(output.annotation)) is list:
        told = ", ".join(map(shown, [*root][:3]))
        said = f"The reply is one object with the JSON keys {told}, probably an item of the list `{output.name}`"
        yield Flag("other-keys", f"{said}, instead of the list.", output.name)


def made_up_input(signature: Signature, text: str) -> re.Match[str] | None:
    """Return the label of an input that follows an answer."""
    names = "|".join([re.escape(name).replace("_", "[ _]") for name in signature.input_fields]) or "(?!)"
    match = re.search(rf"^[*#]{{0,3}} ?({names})\*{{0,2}}:", text, re.IGNORECASE | re.MULTILINE)
    if match is None or not (before := text[: match.start()]).strip() or under_labels(before, signature):
        return None
    return match if under_labels(text[match.end() :], signature) else None


def _items_by_key(root: dict[str, object], output: Field) -> Iterator[Flag]:
    """Flag the items of a list under keys of their own."""
    shapes = {frozenset(one) if isinstance(one, dict) else frozenset() for one in root.values()}
    has_items = len(shapes) == 1 and bool(keys := min(shapes)) and output.name not in keys
    if has_items and get_origin(without_none(output.annotation)) is list:
        told = ", ".join(map(shown, [*root][:3])) + (", …" if len(root) > 3 else "")
        said = f"The reply has an object for each item, under JSON keys of their own ({told}), instead of the list"
        yield Flag("other-keys", f"{said} `{output.name}`.", output.name)


def _holder(root: dict[str, object], lacking: list[str], outputs: int) -> str | None:
    """Return the JSON key whose text is the object with the missing outputs, or None."""
    for key, one in root.items():
        if isinstance(one, str) and "{" in one:
            named, begins = [f'"{name}"' in one for name in lacking], one.lstrip(BEFORE_AN_OBJECT)[:1] == "{"
            if all(named) or (begins and (len(lacking) == outputs or any(named))):
                return key
    return None


def _repetition(reading: Reading) -> Flag | None:
    """Return the flag for a reply that ends in a loop or in white space, or None."""
    completion, is_cut = reading.completion, reading.ended.finish_reason == "length"
    length = len(completion)
    if length <= SHORTEST_LOOP and not is_cut:
        return None
    end = len(completion.rstrip())
    tail, blanks = completion[-2 * LONGEST_PERIOD * REPEATS : end], length - end
    may_end_in_a_loop = end > LONGEST_REST + SHORTEST_LOOP or tail.find(tail[-COMPARED:]) < end - COMPARED
    if blanks < BLANKS and not is_cut and not may_end_in_a_loop:
        return None
    is_blank = blanks >= BLANKS or (blanks > end and is_cut)
    if is_blank and reading.form not in ("prose", "own") and not _is_closed(reading, tail):
        return Flag(
            "runaway-repetition",
            f"The reply ends in {blanks:,} spaces and line breaks (from {place(reading, end)})"
            f"{': the model wrote them until its token limit' if is_cut else ''}.",
        )
    least = REPEATS_IN_A_CUT if is_cut else REPEATS
    piece = _repeated(tail, least)
    if not piece and end > LONGEST_REST + SHORTEST_LOOP and not _is_closed(reading, tail):
        piece = _repeated(tail[:-LONGEST_REST], least)
        end -= LONGEST_REST
    if not piece:
        return None
    times = _times(completion, end, piece)
    start = end - times * len(piece) + len(piece) - len(piece.lstrip())
    at = max(piece.find("\n") if "\n" in piece else piece.find(" "), 0)  # the start of a line or word
    return Flag(
        "runaway-repetition",
        f"The reply ends in a loop: {shown((piece[at:] + piece[:at]).strip())} is repeated {times:,} times, from "
        f"{place(reading, start)} until the end.",
    )


def _is_closed(reading: Reading, tail: str) -> bool:
    """Return whether a reply ends with the end of an answer."""
    return tail.endswith("]]" if reading.form == "markers" else ("}", "]", ">", "`"))


def _times(text: str, end: int, piece: str) -> int:
    """Count how often `piece` is repeated before `end`; larger steps keep 10 MB fast."""
    times, step = 0, 1
    while step:
        if text.endswith(piece * step, 0, end - times * len(piece)):
            times, step = times + step, 2 * step
        else:
            step //= 2
    return times


def _repeated(tail: str, least: int) -> str:
    """Return the piece that a text repeats to its end, `least` times; "" if there is none."""
    size = len(tail)
    if size <= SHORTEST_LOOP:
        return ""
    first = size - COMPARED - min(size // least, LONGEST_PERIOD)
    at = tail.rfind(tail[-COMPARED:], first, size - 1)
    while at >= 0:
        period = size - COMPARED - at
        piece, times = tail[-period:], max(least, 60 // period)
        if piece.strip() and size > period * times and tail.endswith(piece * times):
            return piece
        at = tail.rfind(tail[-COMPARED:], first, at + COMPARED - 1)
    return ""
