"""Answers of a server, proxy or custom LM in the place of a model's text: errors and whole responses."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

from adapters.replies.flag import Flag, shown
from adapters.replies.flags.json_text import object_after

STATUS = (
    r"Bad (?:Gateway|Request)|Gateway Time-?out|Internal Server Error|Service (?:Temporarily )?Unavailable|"
    r"Too Many Requests"
)
"""Reasons that HTTP servers state."""
ERROR_TEXT = re.compile(
    r"\s*(?:upstream connect error or disconnect\b|stream disconnected before completion\b|"
    r"(?:(?:Error code|Error: (?:code|status)|(?:API|HTTP) error):? \d{3}|"
    r"upstream connect error|no healthy upstream|stream disconnected|"
    r"litellm\.\w{1,60}|An error occurred \(\w{1,60}\) when calling the \w{1,60} operation|"
    rf"(?:HTTP/\d[.\d]* )?[45]\d\d (?:{STATUS}|Unauthorized|Forbidden|Not Found)(?: for url)?|"
    rf"{STATUS})\s*(?:\Z|[-.:;!\n(<{{]))",  # prose about such an error goes on with a word
    re.IGNORECASE,
)
LONGEST_ERROR = 1_000
OF_AN_ERROR = frozenset(
    "message type code param status details metadata innererror inner_error content_filter_result request_id reason "
    "errors failed_generation title http_code domain provider "
    "object provider_specific_fields".split()
)
"""Keys of providers' error objects."""
BESIDE_AN_ERROR = frozenset(("error_type", "estimated_time", "request_id", "requestId", "timestamp"))
"""Keys that servers write beside an error's text."""
ABOUT_A_MESSAGE = frozenset(("__type", "statusCode", "error_code", "request_id"))
"""Keys that servers write beside an error's `message`, of which there is at least one."""
CODES = ("code", "status", "statusCode", "status_code", "error_code")
STATUSES = range(400, 600)
"""Numbers that HTTP has for errors; others beside a text are a model's."""
SERVERS_WORDS = re.compile(
    rf"\b(?:{STATUS}|unauthori[sz]ed|forbidden|not found|api[ _-]?key|tokens?|quota|rate[ -]limit\w*|overload\w*|"
    r"time(?:d ?|-?)out|invalid request|request (?:failed|too large)|context (?:length|window)|currently loading|"
    r"insufficient|cuda|out of memory|upstream|deployment|authentication|unexpected endpoint|"
    r"billing (?:account|details|limit)|(?:loading|unknown|invalid|load a|pull) model|"
    r"model (?:fail|need|require|is (?:not|required|overloaded|unavailable))\w*|validation error|"
    r"credentials?|authorization header|does not support (?:tools|thinking|chat|generate|insert|embeddings)|"
    r"llama runner|cannot unmarshal|does not have permission|client specified an invalid argument|"
    r"internal error|connection (?:refused|reset|aborted|error)|not authenticated|method not allowed|[45]\d\d)\b",
    re.IGNORECASE,
)
"""Words of the errors that servers write as a text alone."""
RESPONSES = {"choices": ("message", "text", "delta"), "candidates": ("content",), "content": ("text",)}
"""JSON keys of providers' responses, each with those of the texts in its list."""
ABOUT_A_CALL = frozenset(("model", "object", "usage", "usageMetadata", "stop_reason", "done"))
PARTS = re.compile(r"""\s*\[\s*\{\s*["']type["']\s*:\s*["'](?:text|thinking|reasoning|output_text)["']\s*,""")
MESSAGE = re.compile(r'"message"\s*:\s*"((?:[^"\\]|\\.){1,500})"')
EVENTS = re.compile(r"(?:event: ?\w[^\n]*\n|(?:id)?:[^\n]*\n)*data: ?(?:\{|\[DONE\])")
MOST_PARTS = 10


def error_body(error: object) -> Iterator[Flag]:
    """Flag the error of a server."""
    if isinstance(error, dict | str) and error:
        quoted = error.get("message", error) if isinstance(error, dict) else error
        more = error.get("metadata") if isinstance(error, dict) else None  # OpenRouter's quotation of the provider
        if isinstance(more, dict) and (said_inside := MESSAGE.search(str(more.get("raw")))):
            quoted = said_inside[1].replace('\\"', '"')
        yield Flag("error-body", f"The reply is a server's error, not an answer: {shown(quoted)}.")


def error_of(root: dict[str, object]) -> object:
    """Return what a server's error says, or None for an object that a model may have written."""
    if root.get("object") == "error":
        return root.get("message")
    if "message" in root and root.keys() <= ABOUT_A_MESSAGE | {"message", "code"}:
        return None if ABOUT_A_MESSAGE.isdisjoint(root) else root["message"]
    error = root.get("error") or root.get("detail")
    if isinstance(error, dict):
        is_known = error.keys() <= OF_AN_ERROR or str(error.get("type")).endswith("_error")
        has_code = any(isinstance(error.get(one), int) for one in CODES)
        return error if "message" in error and (is_known or has_code) else None
    if isinstance(error, list):  # FastAPI's list of invalid parts of a request
        first = error[0] if error and "error" not in root else None
        return first["msg"] if isinstance(first, dict) and {"loc", "msg"} <= first.keys() else None
    if not isinstance(error, str):
        return None
    said = f"{root.get('code', '')} {error}"  # xAI writes the kind of the error as the code
    has_words = len(said) < LONGEST_ERROR and SERVERS_WORDS.search(said) is not None
    has_status = any(root.get(one) in STATUSES for one in CODES if isinstance(root.get(one), int))
    return error if has_words or has_status or not BESIDE_AN_ERROR.isdisjoint(root) else None


def in_a_list(text: str, outputs: Container[str]) -> Iterator[Flag]:
    """Flag a list of content parts, and the error that is alone in a list, as Gemini's server writes it."""
    if PARTS.match(text):
        yield _of_the_call("The reply is a list of content parts; the model's answer is in those of type text.")
    elif '"error"' in text and "error" not in outputs:
        listed = object_after(text, "[ \n") or {}
        error = listed.get("error")
        if len(listed) == 1 and isinstance(error, dict) and "message" in error:  # objects of an answer have other keys
            yield from error_body(error)


def whole_response(root: dict[str, object]) -> Flag | None:
    """Return the flag for a provider's whole response, or None."""
    at = _said_at(root)
    if not at:
        return None
    return _of_the_call(f"The reply is the server's whole response; the model's text is at {at} inside it.")


def events(text: str) -> Iterator[Flag]:
    """Flag the events of a stream."""
    if EVENTS.match(text):
        yield _of_the_call(
            "The reply is the server's stream of events (data: …), which hold the model's text in pieces."
        )


def _of_the_call(said: str) -> Flag:
    return Flag("whole-response", f"{said} A custom LM or proxy must return that text alone.")


def _said_at(root: dict[str, object]) -> str:
    """Return where a provider's whole response (OpenAI, Gemini, Anthropic, Ollama) has its text; "" for others."""
    candidates = root.get("candidates")  # Gemini's
    first = candidates[0] if isinstance(candidates, list) and candidates else None
    content = first.get("content") if isinstance(first, dict) else None
    if ABOUT_A_CALL.isdisjoint(root) and not (isinstance(content, dict) and "parts" in content):
        return ""
    for key, inner in RESPONSES.items():
        listed = root.get(key)
        for number, item in enumerate(listed[:MOST_PARTS] if isinstance(listed, list) else ()):
            if isinstance(item, dict) and (found := next((one for one in inner if one in item), None)):
                return f"{key}[{number}].{found}"
    message = root.get("message")
    return "message.content" if isinstance(message, dict) and {"role", "content"} <= message.keys() else ""
