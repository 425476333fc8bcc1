"""Count tokens with OpenAI's tokenizer and the vocabularies packaged with litellm, without downloads.

Loaded by path from `litellm_worker`; imports nothing of this project. It reads litellm's files without importing
litellm.
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
        return encoding.name, [_count_by_piece(encoding, [_encodable(piece) for piece in text]) for text in texts]
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


def _encodable(text: str) -> str:
    """Replace unpaired surrogates, as tiktoken does."""
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
