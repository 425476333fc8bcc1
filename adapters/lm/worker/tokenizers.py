"""Tokens as OpenAI's own tokenizer makes them, from the vocabularies that litellm brings along: nothing is fetched.

Imports nothing of this project, so that the process which calls models can load this file by its path. What is read
are litellm's files; litellm itself is not imported.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tiktoken

LONGEST = 1_000_000
"""Characters of all texts together above which nothing is counted: a single word of that length takes a second."""

VOCABULARIES = "https://openaipublic.blob.core.windows.net/encodings"
FOLDERS = ("TIKTOKEN_CACHE_DIR", "CUSTOM_TIKTOKEN_CACHE_DIR")


def counts_of(model: str, texts: Sequence[Sequence[str]]) -> tuple[str, list[list[int]]] | None:
    """The tokenizer's name, and the tokens of every piece of every text; None where there is no count.

    `model` is OpenAI's name of it. A text is given as the pieces that it is made of and is read as one; a token that
    reaches over the border of two pieces counts for the one that it begins in, so that a text's counts add up to the
    tokens of the whole. None for a model whose tokenizer is not at hand, and for texts that it gives up on.
    """
    if sum(len(piece) for text in texts for piece in text) > LONGEST:
        return None
    encoding = _encoding(model)
    if encoding is None:
        return None
    try:
        return encoding.name, [_by_piece(encoding, [_encodable(piece) for piece in text]) for text in texts]
    except ValueError:  # its pattern gives up on very long runs of one character
        return None


def _by_piece(encoding: tiktoken.Encoding, pieces: Sequence[str]) -> list[int]:
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


def _encodable(text: str) -> str:
    """The text as tiktoken reads it, which replaces lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


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
    for folder in _folders():
        if (folder / key).is_file():  # without it, tiktoken would fetch the vocabulary
            os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
            return tiktoken.get_encoding(name)
    return None


def _folders() -> Iterator[Path]:
    for variable in FOLDERS:
        if os.environ.get(variable):
            yield Path(os.environ[variable])
    litellm = importlib.util.find_spec("litellm")
    if litellm is not None and litellm.origin is not None:
        yield Path(litellm.origin).parent / "litellm_core_utils" / "tokenizers"
