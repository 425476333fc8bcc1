"""litellm is left no more of a long stream than it needs."""

from __future__ import annotations

from types import SimpleNamespace

from adapters.lm.worker.streams import KEPT_CHUNKS, LastChunks


def test_chunks_that_all_count_tokens_are_not_all_kept() -> None:
    chunks = LastChunks()
    for number in range(1000):
        chunks.append(SimpleNamespace(usage=number))
        assert len(chunks) <= KEPT_CHUNKS
    assert [one.usage for one in chunks[-2:]] == [998, 999]


def test_a_count_of_tokens_is_kept_however_much_follows() -> None:
    chunks = LastChunks([SimpleNamespace(usage=9)])
    for _ in range(1000):
        chunks.append(SimpleNamespace())
        assert len(chunks) <= KEPT_CHUNKS
    assert chunks[0].usage == 9
