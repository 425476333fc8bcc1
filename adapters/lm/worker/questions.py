"""Answer without a call what litellm knows: what models can do, and how many tokens texts have.

Nothing is downloaded, and no server is asked. Loaded by path from `litellm_worker`; imports nothing of this project.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import socket
import threading
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    import tiktoken


LOCAL_TABLE = "LITELLM_LOCAL_MODEL_COST_MAP"
"""The variable with which litellm's own table is used; `litellm_setup` sets it."""


class ModelAnswer(TypedDict):
    """litellm's answer about a model."""

    function_calling: bool
    reasoning: bool
    response_schema: bool
    params: list[str]
    vision: bool | None
    """True if it takes images, False if litellm's table says that it does not; None if unknown, as the limits below."""
    context: int | None
    output: int | None
    listed: bool
    """True if litellm's table contains the model; otherwise the answer follows from its rules for names."""


def use_table(litellm: Any, path: str) -> None:
    """Replace litellm's table by a fetched one, which begins in the file's second line, as litellm reloads its own.

    Raises ValueError if litellm does not accept it.
    """
    import httpx

    tables = litellm.litellm_core_utils.get_model_cost_map
    body = Path(path).read_bytes().partition(b"\n")[2]
    kept = types.SimpleNamespace(get=lambda *_, **__: httpx.Response(200, content=body))
    before = os.environ[LOCAL_TABLE]
    os.environ[LOCAL_TABLE] = "False"
    found = tables.get_model_cost_map(path, client=kept)
    os.environ[LOCAL_TABLE] = before
    if tables.get_model_cost_map_source_info()["source"] != "remote":
        raise ValueError("it does not accept the fetched table of models")
    tables.adopt_model_cost_map(found)


def answers(litellm: object, models: Iterable[str]) -> dict[str, ModelAnswer]:
    """Answer for each model. Rule: `dspy.clients.capabilities._litellm_capabilities`."""
    with _no_network():
        return {model: _answer(litellm, model) for model in models}


def _answer(litellm: Any, model: str) -> ModelAnswer:
    # dspy passes the provider to litellm only when it asks about schemas and parameters.
    provider = model.partition("/")[0] if "/" in model else "openai"
    params = _said(lambda: litellm.get_supported_openai_params(model=model, custom_llm_provider=provider))
    schema = _said(lambda: litellm.supports_response_schema(model=model, custom_llm_provider=provider))
    known = _said(lambda: litellm.get_model_info(model))
    bare = litellm.model_cost.get(model.partition("/")[2])
    is_listed = model in litellm.model_cost or (isinstance(known, dict) and known.get("key") in litellm.model_cost)
    if isinstance(bare, dict) and str(bare.get("litellm_provider", "")).startswith(provider):
        is_listed = True
    info = known if is_listed and isinstance(known, dict) else {}
    vision = _said(lambda: litellm.supports_vision(model=model)) if info else None
    return {
        "function_calling": bool(_said(lambda: litellm.supports_function_calling(model=model))),
        "reasoning": bool(_said(lambda: litellm.supports_reasoning(model))),
        "response_schema": bool(schema),
        "params": sorted(params or ()),
        "vision": None if vision is None else bool(vision),
        "context": _limit(info.get("max_input_tokens")),
        "output": _limit(info.get("max_output_tokens")),
        "listed": is_listed,
    }


def _limit(value: object) -> int | None:
    return int(value) if isinstance(value, int | float) and 0 < value < 2**53 else None


def _said(ask: Callable[[], Any]) -> Any:
    """Return litellm's answer; None if it raises, as for an unknown provider."""
    try:
        return ask()
    except Exception:  # anything that litellm raises for this name
        return None


@contextmanager
def _no_network() -> Iterator[None]:
    """Block connections of this thread: litellm would query some servers about their models, and start logins."""
    asks, connects, thread = socket.getaddrinfo, socket.socket.connect, threading.get_ident()

    def refusing(call: Callable[..., Any]) -> Callable[..., Any]:
        def refused(*arguments: Any, **options: Any) -> Any:
            if threading.get_ident() == thread:
                raise OSError("no server is asked what a model can do")
            return call(*arguments, **options)

        return refused

    socket.getaddrinfo, socket.socket.connect = refusing(asks), refusing(connects)  # type: ignore[method-assign]
    try:
        yield
    finally:
        socket.getaddrinfo, socket.socket.connect = asks, connects  # type: ignore[method-assign]


LONGEST = 1_000_000
"""Maximum characters of all texts together: a single word of that length takes a second."""

VOCABULARIES = "https://openaipublic.blob.core.windows.net/encodings"
FOLDERS = ("TIKTOKEN_CACHE_DIR", "CUSTOM_TIKTOKEN_CACHE_DIR")


def counts_of(model: str, texts: Sequence[Sequence[str]]) -> tuple[str, list[list[int]]] | None:
    """Return the tokenizer's name and the token count of every piece of every text.

    `model` is OpenAI's name. Each text is a sequence of pieces that are tokenized together. A token that spans two
    pieces counts for the piece in which it begins, so that a text's counts add up to its total. Returns None for a
    model without an available tokenizer, and for texts that are too long or that the tokenizer fails on.
    """
    if sum(len(piece) for text in texts for piece in text) > LONGEST:
        return None
    encoding = _encoding(model)
    if encoding is None:
        return None
    try:
        # Unpaired surrogates are replaced, as tiktoken does.
        pieces = [[one.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for one in text] for text in texts]
        return encoding.name, [_count_by_piece(encoding, text) for text in pieces]
    except ValueError:  # its pattern fails on very long runs of one character
        return None


def _count_by_piece(encoding: tiktoken.Encoding, pieces: Sequence[str]) -> list[int]:
    tokens = encoding.encode("".join(pieces), disallowed_special=())
    if len(pieces) == 1:
        return [len(tokens)]
    starts = accumulate((len(one) for one in encoding.decode_tokens_bytes(tokens)), initial=0)
    ends = list(accumulate(len(piece.encode()) for piece in pieces))
    counts = [0] * len(pieces)
    at = 0
    for start, _ in zip(starts, tokens, strict=False):
        while start >= ends[at]:
            at += 1
        counts[at] += 1
    return counts


def _encoding(model: str) -> tiktoken.Encoding | None:
    try:
        import tiktoken
    except ImportError:
        return None
    try:
        name = tiktoken.encoding_name_for_model(model)
    except KeyError:
        return None
    key = hashlib.sha1(f"{VOCABULARIES}/{name}.tiktoken".encode()).hexdigest()
    own = importlib.util.find_spec("litellm")
    folders = [os.environ.get(name) for name in FOLDERS]
    folders += [f"{Path(own.origin).parent}/litellm_core_utils/tokenizers"] if own and own.origin else []
    for folder in [Path(one) for one in folders if one]:
        if (folder / key).is_file():  # without it, tiktoken would fetch the vocabulary
            os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
            return tiktoken.get_encoding(name)
    return None
