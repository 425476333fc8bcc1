"""Sends one column of a session's case to its model: the one way for the command line and the app."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from adapters import lm
from adapters.formats.base import Adapter
from adapters.formats.catalog import UnknownAdapterError
from adapters.formats.profile import EXTRACTION_OPTION
from adapters.lm import dotenv, servers
from adapters.lm.addresses import host_of
from adapters.lm.capabilities import split_model
from adapters.requests.request import Request
from adapters.running import runner
from adapters.running.events import Listener
from adapters.running.runner import Run
from adapters.tools import Tools
from sessions.model import variants
from sessions.model.parameters import CONNECTION
from sessions.model.session import Case, Column, Session
from sessions.running import recording, rendering, tools
from workbench.config.confinement import FREE, Confinement

TIMEOUT_S = 600.0
"""Seconds without a piece of a reply, unless the session says otherwise."""

OF_A_SERVER = frozenset({"api_base", "api_version", "header_variables", "num_retries", "stream", "timeout"})
"""Connection settings that depend on the server and not on the model."""


@dataclass(frozen=True)
class Route:
    """The address of a model. `address` None: the provider's own. `named_by` is who named it, when that is not the
    user: such an address gets no key before the user allows its host.
    """

    model: str
    address: str | None
    named_by: Literal["", "session", ".env"] = ""

    @property
    def host(self) -> str:
        return host_of(self.address or "")


def route_of(session: Session, column: Column, extraction_model: str | None = None) -> Route:
    """Return the address of the column's model, or of TwoStep's second, which the session's address is not for.

    Raises `ProviderError` for a config file of servers that cannot be read.
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
    return Route(name, own or project or servers.usual_address(provider), ".env" if project else "")


def connection_for(session: Session, model: str) -> dict[str, object]:
    """Return the connection settings for a model that need not be a column's.

    Those of the first column that calls it; else the session's own, with the address at which a column calls the same
    provider. So nothing leaves for another host than that of `send`.
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
    """The models that sending a column may call, as `route_of` and `open_model` name them: None, the column's own."""
    second = column.options.get(EXTRACTION_OPTION)
    return (None, str(second)) if second else (None,)


def open_model(
    session: Session,
    column: Column,
    extraction_model: str | None = None,
    *,
    allow_hosts: Collection[str] = (),
    allow_variables: Collection[str] = (),
    stream: bool = True,
    confinement: Confinement = FREE,
) -> lm.LM:
    """The model of a column, or TwoStep's second model; keys of the `.env` of the working folder are lent to it.

    Without `stream`, or where the column's parameters say so, the reply comes in a single piece.

    Raises `ProviderError` for an offline model that does not exist, and for what `confinement` refuses.
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
        allow_hosts=allow_hosts,
        capabilities=None if extraction_model else rendering.capabilities_for(session, column).capabilities,
        timeout=connection.get("timeout") or TIMEOUT_S,
        chunk_seconds=None if stream else 0.0,
        stream=stream and connection.get("stream") is not False,
        settings=None if extraction_model else rendering.lm_settings_of(session, column),
        allow_variables=allow_variables,
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
    allow_hosts: Collection[str] = (),
    allow_variables: Collection[str] = (),
    allow_code: bool = False,
    extraction_model: str | None = None,
    raw: bool = False,
    offered: Tools | None = None,
    model: lm.LM | None = None,
    stream: bool = True,
    retries: int | None = None,
    confinement: Confinement = FREE,
) -> Run:
    """Runs the column against its model and returns what happened; a failed call is in the result.

    A key goes to an `api_base` of the session, or of the `.env` of the working folder, only when `allow_hosts` names
    its host; the value of a variable in a header of the session's only when `allow_variables` names it.
    `allow_code` lets a `module:Class` adapter be imported. `extraction_model` is TwoStep's second model
    (None: that of its option of this name, else the column's). `raw` keeps the reply as text. `offered` are the
    session's tools with those who answer (None: its canned results, see `sessions.running.tools`). `model` answers
    in the place of every model that the session names. Without `stream` replies are asked for in one piece. `retries`:
    how often a call that failed for a passing reason is made again (None: as the session's `num_retries` says).

    Raises `SignatureError`, `UnknownAdapterError`, `BuildError` for values that are not of their custom type, and
    `ProviderError` for an offline model that does not exist, or for a model that `confinement` refuses.
    """
    adapter = rendering.adapter_for(session, column, case, allow_code=allow_code)
    if adapter.whole_call is not None and adapter.profile.has_second_model:
        message = "it cannot be sent: its dspy calls the second model itself, and none of ours can be put there"
        raise UnknownAdapterError(f"{message}; send `twostep`, or only render it")
    session = variants.session_of(session, column)
    signature = session.signature.read()
    second = extraction_model
    if model is None:
        second = second or models_of(column)[-1]
        model = open_model(
            session,
            column,
            allow_hosts=allow_hosts,
            allow_variables=allow_variables,
            stream=stream,
            confinement=confinement,
        )
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
        else open_model(session, column, second, allow_hosts=allow_hosts, stream=stream, confinement=confinement),
        raw=raw,
        retries=(rendering.connection_of(session, column).get("num_retries") or 0) if retries is None else retries,
        tools=tools.run_tools(session)[0] if offered is None else offered,
        ask_again=rendering.connection_of(session, column).get("ask_again") or 0,
    )


def keep(
    session: Session,
    case_name: str,
    column: Column,
    run: Run,
    adapter: Adapter | None = None,
    raw: bool = False,
) -> Session:
    """The session with the run's reply under its column, and recorded for `check`.

    The reply is that of the column's own adapter: of a fallback or an extraction only the recording tells. `raw`: it
    was not read, and stays so. Raises
    `sessions.errors.SessionError` for a run that broke off before it had a whole reply.
    """
    case = session.case(case_name)
    recorded = recording.record(session, case, column, run, adapter=adapter).case(case_name)
    return session.with_case(_with_reply(session, recorded, column, run, raw))


def keep_partial(session: Session, case_name: str, column: Column, run: Run, raw: bool = False) -> Session:
    """The session with what had arrived of a run that broke off under its column; nothing is recorded."""
    return session.with_case(_with_reply(session, session.case(case_name), column, run, raw))


def _with_reply(session: Session, case: Case, column: Column, run: Run, raw: bool) -> Case:
    reply = recording.reply_of_run(run, session.model_of(column), raw)
    return case if reply is None else replace(case, replies=session.by_column({**case.replies, column.id: reply}))
