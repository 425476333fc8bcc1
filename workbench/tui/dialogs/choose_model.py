"""Choose a model: offline models, the user's own servers, and litellm's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from textual.widgets import Input

from adapters.lm import model_list, servers
from adapters.lm.capabilities import split_model
from adapters.lm.model_list import ModelEntry
from workbench.sending import model_choices
from workbench.sending.model_choices import key_of
from workbench.tui.dialogs.choose import ChooseScreen, Entry

LOADING = "loading litellm's models …"
WELL_KNOWN = frozenset(split_model(name)[0] for name in model_choices.EXAMPLE_MODELS)
SERVER = "server "
"""The prefix of the provider in the value of a server's entry."""


class ModelScreen(ChooseScreen):
    """Choose a model; returns its name, None after escape.

    Threads read litellm's list (`litellm_models`) and ask a chosen server for its models; no model is called and
    litellm is not loaded. `only` limits the choice to these models and the offline models.
    """

    def __init__(
        self,
        title: str,
        current: str,
        *,
        litellm_models: Callable[[], Sequence[ModelEntry]] = model_list.litellm_models,
        only: Sequence[str] | None = None,
    ) -> None:
        super().__init__(
            title,
            (),
            placeholder="part of a name, or provider/model as in litellm" if only is None else "part of a name",
            free=_typed if only is None else None,
            current=current,
        )
        self._litellm_models = litellm_models
        self._is_open = only is None
        allowed = [ModelEntry(name, split_model(name)[0]) for name in only or ()]
        self._known: tuple[ModelEntry, ...] = (*model_list.offline_models(), *allowed)
        self._listed: Sequence[ModelEntry] = ()
        self._of_servers: tuple[ModelEntry, ...] = ()
        self._servers: tuple[servers.Server, ...] = ()

    def on_mount(self) -> None:
        self.query_one(".dialog").add_class("-wide")
        if self._is_open:
            self._ask_for_more()
        super().on_mount()

    def _ask_for_more(self) -> None:
        try:
            self._servers = servers.known()
        except servers.ServersError as error:
            self.notify(str(error)[:400], severity="warning", markup=False)
        self.say(LOADING)
        self.run_worker(self._load, thread=True, exit_on_error=False)

    def found(self, typed: str) -> list[Entry]:
        own = [_own_server(one) for one in self._servers]
        if not typed.strip():
            named = {one.name for one in (*self._known, *self._of_servers)}
            is_listed = self._current in named or not self._is_open
            current = [] if is_listed else [Entry(self._current, self._current, _remark(self._current))]
            examples = [_entry(one) for one in self._examples() if one.name != self._current and self._is_open]
            return [*current, *map(_entry, (*self._of_servers, *self._known)), *own, *examples]
        words = typed.lower().split()
        fitting = [one for one in own if all(word in f"{one.name} {one.about}".lower() for word in words)]
        models = (*self._of_servers, *self._known, *self._listed)
        found = model_list.search(models, typed)
        return [*fitting, *map(_entry, sorted(found, key=partial(_rank, words)))]

    def choose(self, entry: Entry) -> None:
        if not entry.value.startswith(SERVER):
            super().choose(entry)
            return
        server = next(one for one in self._servers if one.provider == entry.value.removeprefix(SERVER))
        self.say(f"asking {server.place} …")
        self.run_worker(partial(self._ask, server), thread=True, exit_on_error=False)

    def _examples(self) -> list[ModelEntry]:
        by_name = {one.name: one for one in self._listed}
        return [by_name.get(name) or ModelEntry(name, split_model(name)[0]) for name in model_choices.EXAMPLE_MODELS]

    def _load(self) -> None:
        listed = self._litellm_models()
        self.app.call_from_thread(self._loaded, listed)

    def _loaded(self, listed: Sequence[ModelEntry]) -> None:
        self._listed = listed
        self._again(f"{len(listed):,} models of litellm" if listed else "litellm is not installed")

    def _ask(self, server: servers.Server) -> None:
        names = servers.models_at(server)
        self.app.call_from_thread(self._answered, server, names)

    def _answered(self, server: servers.Server, names: Sequence[str] | None) -> None:
        if not names:
            why = "does not answer" if names is None else "has no model"
            self._again(f"{server.place} {why}; type {server.provider}/NAME")
            return
        others = tuple([one for one in self._of_servers if one.provider != server.provider])
        about = server.place
        self._of_servers = (*others, *(ModelEntry(name, server.provider, about) for name in names))
        self.query_one(Input).value = ""
        self._again(f"{server.name} has {len(names)} model{'' if len(names) == 1 else 's'}")

    def _again(self, said: str) -> None:
        """Show new results, if the screen is still open."""
        if self.is_mounted:
            self.say(said)
            self._narrow(self.query_one(Input).value)


def _rank(words: Sequence[str], model: ModelEntry) -> tuple[bool, int]:
    """Rank literal matches first, then callable models, then well-known providers."""
    is_near = not all(word in model.name.lower() or word in model.description.lower() for word in words)
    if model.provider == "offline" or model.description or key_of(model.provider).is_set:
        return is_near, 0
    return is_near, 1 if model.provider in WELL_KNOWN else 2


def _entry(model: ModelEntry) -> Entry:
    if model.provider == "offline" or model.description:
        return Entry(model.name, model.name, model.description)
    return Entry(model.name, model.name, f"{key_of(model.provider).remark} · {model_choices.facts(model)}")


def _own_server(server: servers.Server) -> Entry:
    about = f"{server.place} ({server.source}): enter lists its models"
    return Entry(SERVER + server.provider, f"{server.provider}/…", about)


def _remark(model: str) -> str:
    if model.startswith("offline/"):
        return "offline, named by this session"
    provider = split_model(model)[0]
    own = servers.USUAL.get(provider)
    if own is not None:
        return f"{own[0]}, your own server"
    leaves = model_choices.leaving(model)
    return key_of(provider).remark if leaves is None else f"{key_of(provider).remark}; {leaves}"


def _typed(name: str) -> Entry | None:
    if name.endswith("/") or "://" in name or name.startswith(SERVER):
        return None
    return Entry(name, name, f"as typed, through litellm; {_remark(name)}")
