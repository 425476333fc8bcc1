"""Keeps API keys out of everything that is shown or stored."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

MINIMUM_LENGTH = 8
"""Shorter values are words like `local` or `none`, which would be cut out of ordinary sentences."""

_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)$", re.IGNORECASE)
_LOOKS_SECRET = re.compile(
    r"\b(sk|pk|gsk|xai|AIza)[-_][A-Za-z0-9_\-]{12,}|\bAIza[A-Za-z0-9_\-]{20,}|(?<=Bearer )[^\s\"',]{8,}"
)

_IN_ADDRESS = re.compile(r"(?<=://)[^/@\s\"'<>]{1,500}@")
"""User name and password in front of a host."""
_IN_QUERY = re.compile(r"([?&][\w.-]*(?:key|token|secret|password|signature|sig)=)[^&#\s\"'<>]{1,2000}", re.IGNORECASE)


def is_secret_name(name: str) -> bool:
    """Return whether an environment variable of this name holds a secret."""
    return _SECRET_NAME.search(name) is not None


class Scrubber:
    """Replaces secrets of an environment by the names of their variables, and what merely looks like one by `[key]`.

    The password and the token in an address of the environment (`http://me:password@host/v1?api-key=…`) are secrets
    of that variable, wherever they stand.
    """

    def __init__(self, environment: Mapping[str, str] | None = None, also: tuple[str, ...] = ()) -> None:
        known: dict[str, str] = {}
        for name, value in (os.environ if environment is None else environment).items():
            for secret in (value,) if is_secret_name(name) else _in_address(value):
                if len(secret) >= MINIMUM_LENGTH:
                    known[secret] = f"[{name}]"
        known.update({value: "[key]" for value in also if len(value) >= MINIMUM_LENGTH})
        self._known = sorted(known.items(), key=lambda pair: -len(pair[0]))

    @property
    def unmistakable(self) -> Mapping[str, str]:
        """By each secret that is known and no word what is put in its place, the longest first.

        A secret that JSON escapes stands there as JSON has it too. A variable such as `DEPLOY_TOKEN=production` holds
        a word that a reply may well say.
        """
        return {
            form: name
            for secret, name in self._known
            if not (secret.isalpha() and secret[1:].islower())
            for form in (json.dumps(secret, ensure_ascii=False)[1:-1], secret)
        }

    def scrubbed(self, text: str) -> str:
        """`text` for people to see: without known secrets, and without what looks like one."""
        for secret, name in self._known:
            if secret in text:
                text = text.replace(secret, name)
        text = _LOOKS_SECRET.sub("[key]", text)
        return _IN_QUERY.sub(r"\1[key]", _IN_ADDRESS.sub("[key]@", text)) if "://" in text else text

    def json(self, value: Any) -> Any:
        """`value`, plain JSON, with every string and key of it scrubbed."""
        if isinstance(value, str):
            return self.scrubbed(value)
        if isinstance(value, Mapping):
            return {self.scrubbed(str(key)): self.json(one) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return [self.json(one) for one in value]
        return value


def _in_address(value: str) -> Iterator[str]:
    """The user, password and secret parts of the query in an address, as they are written and as they are meant."""
    if "://" not in value:
        return
    try:
        parts = urlsplit(value)
        found = [parts.username or "", parts.password or ""]
        found += [text for name, text in parse_qsl(parts.query) if _IN_QUERY.search(f"?{name}=x")]
    except ValueError:  # no address after all
        return
    for one in found:
        yield from dict.fromkeys((one, unquote(one)))
