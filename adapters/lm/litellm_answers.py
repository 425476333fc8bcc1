"""Cache the installed litellm's answers about models; each model is asked about once per release.

`answer_of` does not wait: until the answer arrives, it returns that of another release or of the small shipped list.
The command line waits for answers (`asking`), because its output depends on them.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypedDict

from adapters.late_dataclasses import dataclass, field
from adapters.lm import fetched_table
from adapters.lm.fetched_table import FetchedTable
from adapters.lm.protocol import ProviderError
from adapters.requests.capabilities import Capabilities

if TYPE_CHECKING:
    from adapters.lm.worker.questions import ModelAnswer

SHIPPED = Path(__file__).with_name("shipped_answers.json")
"""Answers for the first minute: models named in documents and dialogs, and unlisted names of some providers.

`tests/support/oracle/write_model_facts.py` writes it, `tests/parity/test_capabilities.py` compares it.
"""

UNLISTED = "*"
"""The name in `groq/*`, the shipped answer for Groq's models that litellm does not list."""

BATCH = 20
"""Models per question; between questions the child process can handle other calls."""

SIGNS = "-+"
UNKNOWN = "?"


class Limits(NamedTuple):
    """Limits of a model by litellm's table: images, tokens of a request and of a reply; None if unknown."""

    vision: bool | None = None
    context: int | None = None
    output: int | None = None


class Answer(NamedTuple):
    """The answer of a litellm release about a model."""

    capabilities: Capabilities
    release: str
    is_listed: bool
    limits: Limits = Limits()


class File(TypedDict):
    """The file format: `++-+ 3 + 128000 16384` means tools, reasoning, no schema, listed, index 3 of `params`, images,
    and the limits of request and reply; unknown limits are `?`."""

    release: str
    params: list[str]
    models: dict[str, str]


@lru_cache(maxsize=1)
def installed() -> str:
    """Return the release of the installed litellm; "" without one."""
    import importlib.metadata  # which loads the email package

    try:
        return importlib.metadata.version("litellm")
    except importlib.metadata.PackageNotFoundError:
        return ""


def table_name() -> str:
    """Name the table in use, as people read it."""
    used = fetched_table.in_use()
    return f"litellm {installed()}'s table" if used is None else str(used)


def _key(table: FetchedTable | None) -> str:
    """Return the key of the answers with a table: litellm's release, with a hash unless its own table is used."""
    return installed() if table is None else f"{installed()}+{table.digest}"


def by_table(model: str, table: FetchedTable | None) -> Answer | None:
    """Return the known answer of the installed litellm with this table, or with its own."""
    with _known.lock:
        return _known.of_release(_key(table)).get(model)


def refresh() -> FetchedTable:
    """Fetch the table of models, and keep it if the installed litellm accepts it. Raises ProviderError."""
    from adapters.lm.child import Child

    made = fetched_table.fetch()
    child = Child(os.environ, made)
    child.ready.wait()
    if child.problem is not None:
        made.path.unlink(missing_ok=True)
        raise ProviderError(f"The table of models from {made.host} is not used: litellm fails with it.", "setup")
    child.kill()
    return fetched_table.keep(made)


@dataclass(eq=False)
class _Known:
    """The answers in memory by release and model, and the models that were looked up without success."""

    lock: threading.RLock = field(default_factory=threading.RLock)
    waits: bool = False
    folder: Path | None = None
    answers: dict[str, dict[str, Answer]] = field(default_factory=dict)
    missed: set[str] = field(default_factory=set)
    asked: set[tuple[str, str]] = field(default_factory=set)

    def of_release(self, release: str) -> dict[str, Answer]:
        """Return the answers of a release, read from its file on first use."""
        folder = fetched_table.models_folder()
        if folder != self.folder:
            self.folder, self.answers, self.asked = folder, {}, set()
        if release not in self.answers:
            shipped = shipped_answers()
            own = {
                name: one
                for name, one in shipped.items()
                if one.release == release and not name.endswith(f"/{UNLISTED}")
            }
            self.answers[release] = own | ({} if folder is None else read(folder / f"litellm-{release}.json"))
        return self.answers[release]


_known = _Known()


def answer_of(model: str) -> tuple[Answer | None, bool]:
    """Return the best answer known now, or None, and whether it is from the installed litellm.

    A model without an answer of the installed litellm is added to `wanted`.
    """
    release = _key(fetched_table.in_use())
    with _known.lock:
        found = _known.of_release(release).get(model)
    if found is None and _known.waits:
        ask([model])
        found = _known.of_release(release).get(model)
    if found is not None:
        return found, True
    with _known.lock:
        if (release, model) not in _known.asked:
            _known.missed.add(model)
        shipped = shipped_answers()
        provider = model.partition("/")[0] if "/" in model else "openai"
        return _earlier(model) or shipped.get(model) or shipped.get(f"{provider}/{UNLISTED}"), False


def wanted() -> tuple[str, ...]:
    """Return the models that were looked up but not yet asked about."""
    with _known.lock:
        return tuple(sorted(_known.missed))


def ask(models: Iterable[str]) -> None:
    """Ask the installed litellm about models without an answer, with the table in use, and save its answers."""
    ask_with(fetched_table.in_use(), models)


def ask_with(table: FetchedTable | None, models: Iterable[str]) -> None:
    """Ask as `ask` does, with a fetched table or with litellm's own.

    Waits several seconds until litellm is loaded. Does nothing without litellm.
    """
    from adapters.lm.child import Child, child_for

    release = _key(table)
    with _known.lock:
        left = [one for one in dict.fromkeys(models) if one not in _known.of_release(release)]
        left = [one for one in left if (release, one) not in _known.asked]
        _known.asked.update([(release, one) for one in left])
    if not left or not installed():
        return
    is_used = table == fetched_table.in_use()
    if is_used:
        _known.missed.difference_update(left)
    child = child_for(os.environ, keyless=False) if is_used else Child(os.environ, table)
    child.ready.wait()
    told = installed()
    for start in range(0, len(left), BATCH):
        _, arrivals = child.begin({"op": "facts", "models": left[start : start + BATCH]})
        arrival = arrivals.get()
        if arrival["op"] != "facts":
            break
        told = arrival["release"] if table is None else f"{arrival['release']} with {table}"
        made = {model: answer(told, said) for model, said in arrival["answers"].items()}
        with _known.lock:
            _known.of_release(release).update(made)
    if not is_used:
        child.kill()
    with _known.lock, suppress(OSError):  # on a full disk, ask again the next time
        if _known.folder is not None:
            file = _known.folder / f"litellm-{release}.json"
            fetched_table.make_private(_known.folder)
            new = file.with_name(f".{file.name}.{os.getpid()}")
            new.write_text(written(told, _known.of_release(release)), "utf-8")
            os.replace(new, file)


def answer(release: str, said: ModelAnswer) -> Answer:
    """Convert an answer of the child process."""
    can = Capabilities(said["function_calling"], said["reasoning"], said["response_schema"], frozenset(said["params"]))
    limits = Limits(said["vision"], said["context"], said["output"])
    return Answer(can, release, said["listed"], limits)


@contextmanager
def asking(waits: bool = True) -> Iterator[None]:
    """Make `answer_of` wait for the installed litellm within this block, or not."""
    before, _known.waits = _known.waits, waits
    try:
        yield
    finally:
        _known.waits = before


def read(file: Path) -> dict[str, Answer]:
    """Read a file of answers; empty if it is missing or damaged."""
    try:
        data: File = json.loads(file.read_text("utf-8"))
        sets = [frozenset(one.split()) for one in data["params"]]
        found = {}
        for model, said in data["models"].items():
            signs, index, vision, *most = said.split()
            tools, reasoning, schema, is_listed = (sign == "+" for sign in signs)
            context, output = (None if one == UNKNOWN else int(one) for one in most)
            limits = Limits(None if vision == UNKNOWN else vision == "+", context, output)
            can = Capabilities(tools, reasoning, schema, sets[int(index)])
            found[model] = Answer(can, data["release"], is_listed, limits)
        return found
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return {}


def written(release: str, answers: Mapping[str, Answer]) -> str:
    """Return the file's text for these answers."""
    params = {model: " ".join(sorted(one.capabilities.params)) for model, one in answers.items()}
    sets = sorted(set(params.values()))
    data: File = {"release": release, "params": sets, "models": {}}
    for model, one in sorted(answers.items()):
        can = one.capabilities
        flags = (can.function_calling, can.reasoning, can.response_schema, one.is_listed)
        vision = UNKNOWN if one.limits.vision is None else SIGNS[one.limits.vision]
        told = [str(limit or UNKNOWN) for limit in one.limits[1:]]
        signs = "".join(SIGNS[flag] for flag in flags)
        data["models"][model] = " ".join((signs, str(sets.index(params[model])), vision, *told))
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


@lru_cache(maxsize=1)
def shipped_answers() -> Mapping[str, Answer]:
    return read(SHIPPED)


def _earlier(model: str) -> Answer | None:
    """Return the answer of another release, most recently asked first."""
    folder = _known.folder
    if folder is None:
        return None
    with suppress(OSError):
        for file in sorted(folder.glob("litellm-*.json"), key=lambda one: one.stat().st_mtime, reverse=True):
            release = file.stem.removeprefix("litellm-")
            found = _known.of_release(release).get(model)
            if found is not None:
                return found
    return None
