"""One signature with its inputs under every adapter, side by side: `compare` in one line, shown by notebooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from adapters.formats import catalog
from adapters.library import adapter_of, read, render, signature_of
from adapters.shown.blocks import Beside, Note, Shown
from adapters.shown.itself import ShowsItself

if TYPE_CHECKING:
    from adapters.formats.base import Adapter
    from adapters.prompts.prompt import Prompt
    from adapters.replies.reading import Reading
    from adapters.signatures.signature import Signature


@runtime_checkable
class Predictor(Protocol):
    """A live `dspy.Predict`, by its attributes alone."""

    signature: Any
    demos: Any


@dataclass(frozen=True)
class Side:
    """What one adapter makes: its prompt, or why there is none; and its reading of the reply, where one was given."""

    name: str
    prompt: Prompt | None
    reading: Reading | None = None
    error: str = ""

    def shown(self) -> Shown:
        blocks = () if self.prompt is None else self.prompt.shown().blocks
        refused = (Note(f"✗ {self.error}", "bad"),) if self.error else ()
        read_as = () if self.reading is None else self.reading.shown().blocks
        return Shown(self.name, (*refused, *read_as, *blocks))


@dataclass(frozen=True)
class Comparison(ShowsItself):
    """The sides by the names of their adapters, in the order in which these were asked for."""

    sides: Mapping[str, Side] = field(repr=False)

    def __getitem__(self, name: str) -> Side:
        return self.sides[name]

    def shown(self) -> Shown:
        return Shown("", (Beside(tuple([one.shown() for one in self.sides.values()])),))


def compare(
    signature: Signature | str | type | Predictor,
    inputs: Mapping[str, Any],
    *,
    adapters: Sequence[Adapter | str] = catalog.NAMES,
    demos: Sequence[Mapping[str, Any]] | None = None,
    reply: str | None = None,
) -> Comparison:
    """The prompt that each of `adapters` makes of the same signature and inputs, and how each reads `reply`.

    `signature` is what `render` takes, or a live `dspy.Predict`, which brings its demos where `demos` are not given.
    What one adapter cannot render is its side's `error`; the others stand. Raises what `render` raises for a name or a
    signature that there is not.
    """
    if isinstance(signature, Predictor):
        asked, worked = signature_of(signature.signature), signature.demos if demos is None else demos
    else:
        asked, worked = signature_of(signature), demos or ()
    sides = [_side(adapter_of(one), asked, inputs, worked, reply) for one in adapters]
    return Comparison({one.name: one for one in sides})


def _side(
    adapter: Adapter,
    signature: Signature,
    inputs: Mapping[str, Any],
    demos: Sequence[Mapping[str, Any]],
    reply: str | None,
) -> Side:
    reading = None if reply is None else read(signature, reply, adapter=adapter)
    try:
        return Side(adapter.name, render(signature, inputs, adapter=adapter, demos=demos), reading)
    except TypeError:
        raise
    except Exception as error:  # whatever dspy's format raises for this signature and these values
        return Side(adapter.name, None, reading, f"{type(error).__name__}: {error}")
