"""Which hosts may get a key, by the file that names them: what the user said, for as long as the app is open."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from adapters.lm import addresses, dotenv
from adapters.lm.capabilities import split_model
from sessions.model.session import Column, Session
from workbench.sending import sending
from workbench.sending.model_choices import key_of


class HostQuestion(NamedTuple):
    """A file names an address for a model whose key is set: may its host have the key?

    `file` is the session's (None: it has none yet) or a `.env`.
    """

    file: Path | None
    host: str
    address: str
    model: str
    variable: str


class AllowedHosts:
    """Nothing is allowed before the user says so; what was said counts for that file and that host alone."""

    def __init__(self) -> None:
        self._said: dict[tuple[Path | None, str], bool] = {}

    def say(self, question: HostQuestion, allowed: bool) -> None:
        self._said[question.file, question.host] = allowed

    def forget(self) -> None:
        """Asks anew about every host."""
        self._said.clear()

    def of(self, session: Session, column: Column, path: Path | None) -> frozenset[str]:
        """The hosts that may get a key when the column of the session in `path` is sent."""
        routes = [sending.route_of(session, column, second) for second in sending.models_of(column)]
        return frozenset(one.host for one in routes if self._said.get((_file_of(one, path), one.host)))

    def questions(self, session: Session, column: Column, path: Path | None) -> tuple[HostQuestion, ...]:
        """What the user has not said yet and must, before a key can go anywhere. Raises `ProviderError`."""
        dotenv.read(Path.cwd()).lend_keys()
        found: dict[tuple[Path | None, str], HostQuestion] = {}
        for second in sending.models_of(column):
            route = sending.route_of(session, column, second)
            variable = _key_at_stake(route)
            file = _file_of(route, path)
            if variable and (file, route.host) not in self._said:
                question = HostQuestion(file, route.host, route.address or "", route.model, variable)
                found.setdefault((file, route.host), question)
        return tuple(found.values())


def _key_at_stake(route: sending.Route) -> str:
    """The variable whose value would go to an address that the user did not name; empty when none would."""
    if not route.named_by or not route.host:
        return ""
    provider = split_model(route.model)[0]
    key = key_of(provider)
    set_ones = addresses.keys_set(provider)
    return set_ones[0] if set_ones else (key.variable or "") if key.is_set else ""


def _file_of(route: sending.Route, path: Path | None) -> Path | None:
    return Path.cwd() / ".env" if route.named_by == ".env" else path
