"""Callbacks around `format` and `parse`, with dspy's method names (`dspy.utils.callback.BaseCallback`)."""

from __future__ import annotations

import functools
import inspect
import logging
import uuid
from collections.abc import Callable
from typing import Any, TypeVar

logger = logging.getLogger(__name__)

Method = TypeVar("Method", bound=Callable[..., Any])


class Callback:
    """Base of callbacks that watch an adapter. They only observe: their errors are logged and change nothing."""

    def on_adapter_format_start(self, call_id: str, instance: object, inputs: dict[str, object]) -> None: ...

    def on_adapter_format_end(self, call_id: str, outputs: object, exception: BaseException | None = None) -> None: ...

    def on_adapter_parse_start(self, call_id: str, instance: object, inputs: dict[str, object]) -> None: ...

    def on_adapter_parse_end(self, call_id: str, outputs: object, exception: BaseException | None = None) -> None: ...


def announced(method: Method) -> Method:
    """`format` or `parse`, announced to the callbacks of the adapter it is called on."""
    name = method.__name__
    parameters = inspect.signature(method)

    @functools.wraps(method)
    def wrapper(self: Any, *args: object, **kwargs: object) -> object:
        callbacks = self.callbacks
        if not callbacks:
            return method(self, *args, **kwargs)
        call_id = uuid.uuid4().hex
        inputs = dict(parameters.bind(self, *args, **kwargs).arguments)
        inputs.pop("self", None)
        _tell(callbacks, f"on_adapter_{name}_start", call_id=call_id, instance=self, inputs=inputs)
        try:
            outputs = method(self, *args, **kwargs)
        except BaseException as error:  # told of, and raised again
            _tell(callbacks, f"on_adapter_{name}_end", call_id=call_id, outputs=None, exception=error)
            raise
        _tell(callbacks, f"on_adapter_{name}_end", call_id=call_id, outputs=outputs, exception=None)
        return outputs

    return wrapper  # type: ignore[return-value]


def _tell(callbacks: list[object], event: str, **arguments: object) -> None:
    for callback in callbacks:
        try:
            getattr(callback, event)(**arguments)
        except Exception as error:  # a listener's fault must not become the run's
            logger.warning("callback %r failed in %s: %s", callback, event, error)
