"""Remember, until the app closes, which hosts the user allowed to receive API keys or other variables."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from adapters.late_dataclasses import dataclass, field
from adapters.lm import addresses, dotenv
from adapters.lm.capabilities import split_model
from sessions.model.session import Column, Session
from sessions.running import rendering
from workbench.config.confinement import Allowed
from workbench.sending import sending
from workbench.sending.model_choices import key_of


class HostQuestion(NamedTuple):
    """A question for the user: may `host`, named by a file, receive the API key in `variable`?

    With `header`: may the session send the value of `variable` in this header? `file` is the session file (None if not
    yet saved) or a `.env`. `address` is the provider's own if no file names another.
    """

    file: Path | None
    host: str
    address: str
    model: str
    variable: str
    header: str = ""

    @property
    def key(self) -> tuple[Path | None, str, str]:
        return self.file, self.host, self.variable if self.header else ""


@dataclass(eq=False)
class AllowedHosts:
    """The user's answers, each valid only for its file and host. Everything else is denied."""

    _said: dict[tuple[Path | None, str, str], bool] = field(default_factory=dict)

    def say(self, question: HostQuestion, allowed: bool) -> None:
        self._said[question.key] = allowed

    def forget(self) -> None:
        """Forget all answers, so that the user is asked about every host again."""
        self._said.clear()

    def of(self, session: Session, column: Column, path: Path | None) -> frozenset[str]:
        """Return the hosts that may receive a key when the column of the session in `path` is sent."""
        routes = [sending.route_of(session, column, second) for second in sending.models_of(column)]
        return frozenset(one.host for one in routes if self._said.get((_file_of(one, path), one.host, "")))

    def allowed(self, session: Session, column: Column, path: Path | None) -> Allowed:
        """Return what the user allowed for the column of the session in `path`."""
        asked = _headers(session, column, path)
        return Allowed(
            self.of(session, column, path), frozenset(one.variable for one in asked if self._said.get(one.key))
        )

    def questions(self, session: Session, column: Column, path: Path | None) -> tuple[HostQuestion, ...]:
        """Return the questions that the user must answer before a key can be sent. Raises `ProviderError`."""
        dotenv.read(Path.cwd()).lend_keys()
        found: dict[tuple[Path | None, str, str], HostQuestion] = {}
        for second in sending.models_of(column):
            route = sending.route_of(session, column, second)
            # The variable whose value would go to an address that a file names; "" if none would.
            variable = ""
            if route.named_by and route.host:
                provider = split_model(route.model)[0]
                key = key_of(provider)
                if set_ones := addresses.keys_set(provider):
                    variable = set_ones[0]
                elif key.is_set:
                    variable = key.variable or ""
            file = _file_of(route, path)
            question = HostQuestion(file, route.host, route.address or "", route.model, variable)
            if variable and question.key not in self._said:
                found.setdefault(question.key, question)
        for one in _headers(session, column, path):
            if not self._said.get(one.key):
                found.setdefault(one.key, one)
        return tuple(found.values())


def _headers(session: Session, column: Column, path: Path | None) -> tuple[HostQuestion, ...]:
    """Return a question for each header that the session fills from a variable. Raises `ProviderError`."""
    headers = rendering.lm_settings_of(session, column).header_variables
    if not headers or session.model_of(column).startswith("offline/"):
        return ()
    route = sending.route_of(session, column)
    host = route.host or split_model(route.model)[0]
    return tuple(
        HostQuestion(path, host, route.address or "", route.model, variable, header)
        for header, variable in headers.items()
    )


def _file_of(route: sending.Route, path: Path | None) -> Path | None:
    return Path.cwd() / ".env" if route.named_by == ".env" else path
