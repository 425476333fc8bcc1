"""The interface of an adapter for requests, history and whole calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from adapters.prompts.text import Prompt
from adapters.replies.reading import Reader, Reading
from adapters.requests.calls import WholeCall
from adapters.requests.capabilities import Capabilities
from adapters.signatures.signature import Signature


class RequestedAdapter(Reader, Protocol):
    """The methods of `adapters.formats.base.Adapter`, documented there, for callers outside the class."""

    @property
    def name(self) -> str: ...

    use_native_function_calling: bool
    parallel_tool_calls: bool | None
    native_response_types: tuple[type, ...] | None
    whole_call: WholeCall | None
    """The replacement of `render` and `read` for the whole call; None for adapters that do both themselves."""

    def render(
        self,
        signature: Signature,
        demos: Sequence[Mapping[str, Any]],
        inputs: Mapping[str, Any],
        reuse: Prompt | None = None,
    ) -> Prompt: ...

    def read_with_calls(self, signature: Signature, completion: str) -> Reading: ...

    def response_format(self, signature: Signature, capabilities: Capabilities) -> dict[str, Any] | None: ...

    def fallback_adapter(self) -> RequestedAdapter | None: ...

    def format_user_message_content(
        self,
        signature: Signature,
        inputs: Mapping[str, Any],
        prefix: str = "",
        suffix: str = "",
        main_request: bool = False,
    ) -> str: ...

    def format_assistant_message_content(
        self, signature: Signature, outputs: Mapping[str, Any], missing_field_message: str | None = None
    ) -> str: ...
