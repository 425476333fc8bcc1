"""The flag about values that dspy would also put before code of the source, which is never run here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from adapters.replies.flags.flag import Flag

if TYPE_CHECKING:
    from adapters.replies.reading import Reading

MOST_NAMES = 3


def unchecked(reading: Reading) -> Iterator[Flag]:
    """One flag for each output that was found in the reply and whose type has validators of its own."""
    for name, field in reading.signature.output_fields.items():
        found = reading.fields.get(name)
        if field.unchecked and found is not None and found.state in ("read", "failed"):
            code = ", ".join(field.unchecked[:MOST_NAMES]) + (", …" if len(field.unchecked) > MOST_NAMES else "")
            yield Flag(
                "unchecked-by-its-code",
                f"Uncertain: dspy also runs {code} on `{name}`, which may refuse or change it; a source is read here "
                "and never run.",
                name,
            )
