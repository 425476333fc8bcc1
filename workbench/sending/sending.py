"""Send one column of a session's case to its model; used by both the command line and the app."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from adapters import lm
from adapters.formats.catalog import UnknownAdapterError
from adapters.formats.profile import EXTRACTION_OPTION
from adapters.late_dataclasses import dataclass, replace
from adapters.lm import dotenv, servers
from adapters.lm.addresses import host_of
from adapters.lm.capabilities import split_model
from adapters.requests.request import Request
from adapters.running import runner
from adapters.running.events import Listener
from adapters.tools.tools import Tools
from sessions.model import variants
from sessions.model.parameters import CONNECTION
from sessions.model.session import Case, Column, Session
from sessions.running import recording, rendering, tools
from workbench.config.confinement import FREE, NOTHING_MORE, Allowed, Confinement

TIMEOUT_S = 600.0
"""Default timeout: seconds without a byte of a reply."""

OF_A_SERVER = frozenset({"api_base", "api_version", "header_variables", "num_retries", "stream", "timeout"})
"""Connection settings that depend on the server instead of the model."""


@dataclass(frozen=True)
class Route:
    """A model and its address (None: the provider's own).

    `named_by` is the file that named the address, "" for the user or provider. An address named by a file gets no API
    key until the user allows its host.
    """

    model: str
    address: str | None
    named_by: Literal["", "session", ".env"] = ""

    @property
    def host(self) -> str:
        return host_of(self.address or "")


def route_of(session: Session, column: Column, extraction_model: str | None = None) -> Route:
    """Return the address of the column's model or of `extraction_model`, TwoStep's second model.

    The session's `api_base` does not apply to the second model. Raises `ProviderError` for an unreadable config file of
    servers.
    """
    name = extraction_model or session.model_of(column)
    if name.startswith("offline/"):
        return Route(name, None)
    provider = split_model(name)[0]
    given = None if extraction_model else rendering.connection_of(session, column).get("api_base")
    if given:
        return Route(name, given, "session")
    try:
        own = servers.address_of(provider)
    except servers.ServersError as error:
        raise lm.ProviderError(str(error), "setup") from error
    project = None if own else dotenv.address_of(provider, dotenv.read(Path.cwd()))
    return Route(name, own or project or servers.USUAL.get(provider, ("", None))[1], ".env" if project else "")


def connection_for(session: Session, model: str) -> dict[str, object]:
    """Return the connection settings for any model, whether or not a column uses it.

    These are the settings of the first column that calls it, else the session's, with the server settings of a column
    that calls the same provider. So requests go to the same host as with `send`.
    """
    for column in session.columns:
        if session.model_of(column) == model:
            return rendering.connection_of(session, column)
    found = {name: value for name, value in session.params.items() if name in CONNECTION}
    for column in session.columns:
        settings = rendering.connection_of(session, column)
        if settings.get("api_base") and split_model(session.model_of(column))[0] == split_model(model)[0]:
            return found | {name: value for name, value in settings.items() if name in OF_A_SERVER}
    return found


def models_of(column: Column) -> tuple[str | None, ...]:
    """Return the models that sending a column may call; None is the column's main model, as for `route_of`."""
    second = column.options.get(EXTRACTION_OPTION)
    return (None, str(second)) if second else (None,)


def open_model(
    session: Session,
    column: Column,
    extraction_model: str | None = None,
    *,
    allowed: Allowed = NOTHING_MORE,
    stream: bool = True,
    confinement: Confinement = FREE,
) -> lm.LM:
    """Open a column's model, or `extraction_model`, with the API keys of the working folder's `.env`.

    Without `stream`, or with `stream: false` in the column's parameters, the reply arrives as a single chunk.

    Raises `ProviderError` for an unknown offline model and for a model that `confinement` forbids.
    """
    dotenv.read(Path.cwd()).lend_keys()
    route = route_of(session, column, extraction_model)
    refused = confinement.why_no_model(route.model, route.address if route.named_by else None)
    if refused:
        raise lm.ProviderError(refused, "setup")
    connection = rendering.connection_of(session, column)
    return lm.open(
        route.model,
        api_base=route.address,
        api_base_trusted=not route.named_by,
        api_version=connection.get("api_version"),
        allow_hosts=allowed.hosts,
        capabilities=None if extraction_model else rendering.capabilities_for(session, column).capabilities,
        timeout=connection.get("timeout") or TIMEOUT_S,
        chunk_seconds=None if stream else 0.0,
        stream=stream and connection.get("stream") is not False,
        settings=None if extraction_model else rendering.lm_settings_of(session, column),
        allow_variables=allowed.variables,
    )


def http_request(session: Session, column: Column, request: Request) -> lm.HttpRequest:
    """Return the HTTP request that litellm writes for a column (`rendering.http_request`). Raises `ProviderError`."""
    dotenv.read(Path.cwd()).lend_keys()
    route = route_of(session, column)
    return rendering.http_request(session, column, request, route.address, trusted=not route.named_by)


def send(
    session: Session,
    column: Column,
    case: Case,
    *,
    listeners: Iterable[Listener] = (),
    deadline_s: float | None = None,
    cancel: threading.Event | None = None,
    allowed: Allowed = NOTHING_MORE,
    allow_code: bool = False,
    extraction_model: str | None = None,
    raw: bool = False,
    offered: Tools | None = None,
    model: lm.LM | None = None,
    stream: bool = True,
    retries: int | None = None,
    confinement: Confinement = FREE,
) -> runner.Run:
    """Send a column's request to its model; return the run, which includes any failed call.

    An API key is sent to an `api_base` of the session or of the working folder's `.env` only if `allowed` has its
    host, and a variable in one of the session's headers only if it has that variable. `allow_code`
    allows importing a `module:Class` adapter. `extraction_model` is TwoStep's second model (None: that of its option of
    this name, else the column's). `raw` keeps the reply as text. `offered` are the session's tools with their handlers
    (None: canned results, see `sessions.running.tools`). `model` replaces every model that the session names. Without
    `stream`, each reply arrives as a single chunk. `retries` is the maximum number of retries of a call that failed for
    a temporary reason (None: the session's `num_retries`).

    Raises `SignatureError`, `UnknownAdapterError`, `BuildError` for values that a custom type rejects, and
    `ProviderError` for an unknown offline model or a model that `confinement` forbids.
    """
    adapter = rendering.bound(rendering.adapter_of(column, allow_code=allow_code), session, column, case)
    if adapter.whole_call is not None and adapter.profile.has_second_model:
        message = "it cannot be sent: its dspy calls the second model itself, and none of ours can be put there"
        raise UnknownAdapterError(f"{message}; send `twostep`, or only render it")
    session = variants.session_of(session, column)
    signature = session.signature.read()
    second = extraction_model
    if model is None:
        second = second or models_of(column)[-1]
        model = open_model(session, column, allowed=allowed, stream=stream, confinement=confinement)
    return runner.run(
        adapter,
        model,
        signature,
        rendering.demos_of(session, case),
        rendering.inputs_of(signature, case, adapter),
        params=rendering.params_of(session, column, case),
        held=True,
        fallback=session.fallback,
        listeners=listeners,
        deadline_s=deadline_s,
        cancel=cancel,
        extraction_lm=None
        if second is None
        else open_model(session, column, second, allowed=allowed, stream=stream, confinement=confinement),
        raw=raw,
        retries=(rendering.connection_of(session, column).get("num_retries") or 0) if retries is None else retries,
        tools=tools.run_tools(session)[0] if offered is None else offered,
        ask_again=rendering.connection_of(session, column).get("ask_again") or 0,
    )


def keep(session: Session, case_name: str, column: Column, run: runner.Run, raw: bool = False) -> Session:
    """Return the session with the run's reply stored in its column and recorded for `check`.

    The stored reply is the one to the column's own adapter; replies to a fallback or an extraction are only in the
    recording. `raw`: the reply was not parsed. Raises `SessionError` for a run interrupted before a complete reply.
    """
    recorded = recording.record(session, session.case(case_name), column, run)
    return keep_partial(recorded, case_name, column, run, raw)


def keep_partial(session: Session, case_name: str, column: Column, run: runner.Run, raw: bool = False) -> Session:
    """Return the session with the partial reply of an interrupted run in its column; records nothing."""
    case, reply = session.case(case_name), recording.reply_of_run(run, session.model_of(column), raw)
    if reply is None:
        return session
    replies = session.sort_by_column({**case.replies, column.id: reply})
    return session.replace_case(replace(case, replies=replies))
