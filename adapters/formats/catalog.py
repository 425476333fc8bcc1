"""Find adapters by name: ours, those registered by other packages, and `module:Class` if the user allows it."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from adapters.formats.profile import CUSTOM, Card, Profile
from adapters.late_dataclasses import dataclass, replace

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

    from adapters.formats.base import Adapter

ENTRY_POINTS = "workbench.adapters"


@dataclass(frozen=True)
class Entry:
    """An adapter of the catalog: its class, its column's heading, and the dspy class that it reimplements.

    `home` and `dspy` are `module:Class`; `dspy` is None for an adapter that dspy does not have. All other facts are in
    the class's `profile`; its module is imported on first use.
    """

    home: str
    title: str
    dspy: str | None = None

    @cached_property
    def adapter(self) -> type[Adapter]:
        module, _, name = self.home.partition(":")
        found: type[Adapter] = getattr(importlib.import_module(module), name)
        return found


OURS: Mapping[str, Entry] = MappingProxyType(
    {
        "chat": Entry("adapters.formats.chat:ChatAdapter", "Chat", "dspy.adapters.chat_adapter:ChatAdapter"),
        "json": Entry("adapters.formats.json:JSONAdapter", "JSON", "dspy.adapters.json_adapter:JSONAdapter"),
        "xml": Entry("adapters.formats.xml:XMLAdapter", "XML", "dspy.adapters.xml_adapter:XMLAdapter"),
        "baml": Entry("adapters.formats.baml:BAMLAdapter", "BAML", "dspy.adapters.baml_adapter:BAMLAdapter"),
        "twostep": Entry(
            "adapters.formats.two_step:TwoStepAdapter", "TwoStep", "dspy.adapters.two_step_adapter:TwoStepAdapter"
        ),
        "markdown": Entry("adapters.formats.markdown:MarkdownAdapter", "Markdown"),
    }
)
NAMES: tuple[str, ...] = tuple(OURS)


class OfRelease(NamedTuple):
    """An adapter of a release of dspy, as in `chat@3.0.4`."""

    adapter: str
    version: str


def parse_release(name: str) -> OfRelease | None:
    """Parse a name such as `chat@3.0.4`; return None for all other adapters."""
    if "@" not in name:
        return None
    adapter, _, version = name.partition("@")
    is_one = re.fullmatch(r"\d[\w.]{0,30}", version) is not None and ":" not in adapter
    return OfRelease(adapter, version) if is_one else None


class UnknownAdapterError(ValueError):
    """An unknown adapter or option; the message suggests known ones."""


def make(
    name: str, options: Mapping[str, Any] = MappingProxyType({}), *, allow_code: bool = False, shared: bool = True
) -> Adapter:
    """Make an adapter by its name, with options named as in dspy's constructors. Raises `UnknownAdapterError`.

    One of ours is the same object for the same options; a caller that may change it asks for one that is not `shared`.
    `module:Class` imports the user's own code, so it requires `allow_code`, which the command line passes for names
    that the user typed.
    """
    if ":" in name:
        if not allow_code:
            raise UnknownAdapterError(
                f"the adapter {name!r} is Python code, which a session may not load by itself; "
                f"allow it with --adapter {name}"
            )
        module_name, _, class_name = name.partition(":")
        try:
            found = getattr(importlib.import_module(module_name), class_name)
        except ImportError as error:
            raise UnknownAdapterError(f"cannot import the module of the adapter {name!r}: {error}") from error
        except AttributeError as error:
            raise UnknownAdapterError(f"the module {module_name!r} has no class {class_name!r}") from error
        return _checked(name, found)(**options)
    if parse_release(name) is not None:
        raise UnknownAdapterError(f"{name!r} belongs to another release of dspy, which only renders sessions")
    entry = OURS.get(name)
    if entry is None:
        registered = _registered()
        if name not in registered.names:
            raise UnknownAdapterError(_unknown("adapter", name, (*OURS, *sorted(registered.names))))
        return _checked(name, registered[name].load())(**options)
    known = entry.adapter.profile.options
    for option in options:
        if option not in known:
            raise UnknownAdapterError(_unknown("option", option, known, f" of the adapter {name}"))
    if not shared:
        return entry.adapter(**options)
    return _make(name, tuple(sorted(options.items())))


def title(name: str) -> str:
    """Return the heading of an adapter's column."""
    named = parse_release(name)
    if named is not None:
        return f"{title(named.adapter)} · dspy {named.version}"
    return OURS[name].title if name in OURS else name.rsplit(":", 1)[-1]


def profile(name: str) -> Profile:
    """Return an adapter's profile; `CUSTOM` for adapters that are neither ours nor of a dspy release."""
    named = parse_release(name)
    if named is not None:
        heading = f"{title(named.adapter)} of dspy {named.version}"
        card = Card(
            f"{heading}, run live: that very release renders and parses.",
            f"Whatever {heading} makes. Origins are shown only where the text alone makes them certain.",
            f"Whatever {heading} reads. Its parse result has values and no steps.",
            (f"your program runs on dspy {named.version}", "you want to see what an upgrade changes"),
            ("your program runs on another release",),
        )
        return replace(
            CUSTOM, about=f"as dspy {named.version} has it", card=card, options=profile(named.adapter).options
        )
    return OURS[name].adapter.profile if name in OURS else CUSTOM


def dspy_class(name: str) -> tuple[str, str] | None:
    """Return the module and name of the dspy class that an adapter reimplements, or None."""
    place = OURS[name].dspy if name in OURS else None
    return None if place is None else (place.partition(":")[0], place.partition(":")[2])


@lru_cache(maxsize=1)
def _registered() -> EntryPoints:
    """List the adapters of other packages, once: each listing reads a file of every installed package."""
    from importlib.metadata import entry_points  # which loads the email package

    return entry_points(group=ENTRY_POINTS)


@lru_cache(maxsize=64)
def _make(name: str, options: tuple[tuple[str, Any], ...]) -> Adapter:
    return OURS[name].adapter(**dict(options))


def _checked(name: str, found: object) -> type[Adapter]:
    from adapters.formats.base import Adapter

    if not (isinstance(found, type) and issubclass(found, Adapter)):
        raise UnknownAdapterError(f"{name!r} is not an adapter: it must be a subclass of adapters.Adapter")
    return found


def _unknown(what: str, name: str, known: tuple[str, ...], whose: str = "") -> str:
    import difflib

    meant = name.lower().removesuffix("adapter")  # also dspy's `ChatAdapter`
    near = difflib.get_close_matches(meant, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}"
    return f"there is no {what} {name!r}{whose}; {hint}"
