"""The whole way in four calls: a signature is read, a prompt rendered, a reply read, a model asked.

Each takes the signature as text (either notation), as a `Signature`, or as a live `dspy.Signature` class, and the
adapter by name or as an object. `adapters` exports these functions; `docs/library.md` shows them at work.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from adapters.formats import catalog
from adapters.formats.base import Adapter
from adapters.lm.protocol import LM
from adapters.prompts.prompt import Prompt
from adapters.replies.reading import Reading
from adapters.running import runner
from adapters.running.runs import Run
from adapters.signatures import notation
from adapters.signatures.signature import Signature
from adapters.values.custom_types import build_inputs

NOTHING: Mapping[str, Any] = {}


def read_signature(text: str, class_name: str | None = None) -> Signature:
    """The signature that `text` writes: `"question -> answer: float"`, or Python source with a signature class.

    Source is read and never run. `class_name` chooses among several classes. Raises `SignatureError` with line, column
    and what would work.
    """
    return notation.read(text, class_name)


def make_adapter(name: str, **options: Any) -> Adapter:
    """An adapter by name (`chat`, `json`, `xml`, `baml`, `twostep`, `markdown`, or one that a package registered).

    `options` are dspy's names of the constructor. Raises `ValueError` for a name or an option that there is not.
    """
    return catalog.make(name, options)


def open_model(name: str, **options: Any) -> LM:
    """A model by name: `offline/exact` and its siblings, or any `provider/model` of litellm.

    `options` are those of `adapters.lm.open`: `api_base`, `capabilities`, `timeout` and more. Nothing is started and
    nobody is asked before the first call. Raises `ProviderError` for an offline model that there is not.
    """
    from adapters import lm

    return lm.open(name, **options)


def render(
    signature: Signature | str | type,
    inputs: Mapping[str, Any],
    *,
    adapter: Adapter | str = "chat",
    demos: Sequence[Mapping[str, Any]] = (),
) -> Prompt:
    """The messages, each character with its origin; `.as_dicts()` gives `[{"role", "content"}, …]`.

    Plain JSON in the place of a custom type (`Image`, `History`, …) is made into one. Raises what dspy's `format`
    raises, and `ValueError` for JSON that a custom type does not take.
    """
    asked = _signature(signature)
    built = [build_inputs(asked, demo) for demo in demos]
    return _adapter(adapter).render(asked, built, build_inputs(asked, inputs))


def read(signature: Signature | str | type, reply: str, *, adapter: Adapter | str = "chat") -> Reading:
    """The whole account of a reply: `ok`, `values`, `error`, `spans`, `fields` with their steps, `flags`.

    Never raises for a bad reply. `adapter.parse` gives the values alone, or raises dspy's error.
    """
    return _adapter(adapter).read(_signature(signature), reply)


def run(
    signature: Signature | str | type,
    inputs: Mapping[str, Any],
    *,
    model: LM | str = "offline/exact",
    adapter: Adapter | str = "chat",
    demos: Sequence[Mapping[str, Any]] = (),
    fallback: bool = False,
    **options: Any,
) -> Run:
    """Asks a model and reads its reply: `ok`, `values`, `attempts`, `events`, `error`. Blocks; no failure is raised.

    `fallback` asks again through JSON where the adapter has that. `options` are those of
    `adapters.running.runner.run`: `params`, `n`, `deadline_s`, `cancel`, `tools`, `retries`, `extraction_lm` and more.
    Raises only what is wrong before anything is sent: a signature, a name, or a custom type's JSON.
    """
    asked = _signature(signature)
    lm = open_model(model) if isinstance(model, str) else model
    built = [build_inputs(asked, demo) for demo in demos]
    return runner.run(_adapter(adapter), lm, asked, built, build_inputs(asked, inputs), fallback=fallback, **options)


def _adapter(adapter: Adapter | str) -> Adapter:
    return catalog.make(adapter) if isinstance(adapter, str) else adapter


def _signature(signature: Signature | str | type) -> Signature:
    if isinstance(signature, Signature):
        return signature
    return read_signature(signature) if isinstance(signature, str) else Signature.from_dspy(signature)
