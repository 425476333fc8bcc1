"""Remove API keys from everything that is shown or stored."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

MINIMUM_LENGTH = 8
"""Minimum length of a secret; shorter values are often ordinary words such as `local` or `none`."""

_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)$", re.IGNORECASE)
_LOOKS_SECRET = re.compile(
    r"\b(sk|pk|gsk|xai|pplx|hf|ghp|gho|glpat|AIza)[-_][A-Za-z0-9_\-]{12,}|\bAIza[A-Za-z0-9_\-]{20,}"
    r"|\bA(KIA|SIA)[0-9A-Z]{16}\b|(?<=Bearer )[^\s\"',()\[\]{}<>;`]{8,}"
)

_IN_ADDRESS = re.compile(r"(?<=://)[^/@\s\"'<>]{1,500}@")
"""The user name and password before a host."""
_IN_QUERY = re.compile(r"([?&][\w.-]*(?:key|token|secret|password|signature|sig)=)[^&#\s\"'<>]{1,2000}", re.IGNORECASE)


def is_secret_name(name: str) -> bool:
    """Return whether an environment variable of this name contains a secret."""
    return _SECRET_NAME.search(name) is not None


class Scrubber:
    """Replace an environment's secrets by the names of their variables, and strings that look secret by `[key]`.

    The password and the token in an address of the environment (`http://me:password@host/v1?api-key=…`) are secrets
    of that variable, wherever they appear.
    """

    def __init__(self, environment: Mapping[str, str] = os.environ, also: tuple[str, ...] = ()) -> None:
        known: dict[str, str] = {}
        for name, value in environment.items():
            for secret in (value,) if is_secret_name(name) else _in_address(value):
                if len(secret) >= MINIMUM_LENGTH:
                    known[secret] = f"[{name}]"
        known.update({value: "[key]" for value in also if len(value) >= MINIMUM_LENGTH})
        self._known = sorted(known.items(), key=lambda pair: -len(pair[0]))

    @property
    def unmistakable(self) -> Mapping[str, str]:
        """Map known secrets to placeholders, longest first.

        Includes the JSON-escaped form of each secret. Excludes ordinary words, as in `DEPLOY_TOKEN=production`, which
        a reply may contain by chance.
        """
        return {
            form: name
            for secret, name in self._known
            if not (secret.isalpha() and secret[1:].islower())
            for form in (json.dumps(secret, ensure_ascii=False)[1:-1], secret)
        }

    def scrubbed(self, text: str) -> str:
        """Return `text` without known secrets and strings that look secret."""
        for secret, name in self._known:
            if secret in text:
                text = text.replace(secret, name)
        text = _LOOKS_SECRET.sub("[key]", text)
        return _IN_QUERY.sub(r"\1[key]", _IN_ADDRESS.sub("[key]@", text)) if "://" in text else text

    def json(self, value: object) -> Any:
        """Return a plain JSON value with all strings and keys scrubbed."""
        return map_texts(value, self.scrubbed, with_keys=True)


def map_texts(value: object, change: Callable[[str], str], with_keys: bool = False) -> Any:
    """Change every text in a plain JSON value, also in keys if `with_keys`."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {change(str(key)) if with_keys else key: map_texts(one, change, with_keys) for key, one in value.items()}
    return [map_texts(one, change, with_keys) for one in value] if isinstance(value, list | tuple) else value


def _in_address(value: str) -> Iterator[str]:
    """Yield the user, password and secret query parameters of an address, both as written and URL-decoded."""
    if "://" not in value:
        return
    try:
        parts = urlsplit(value)
        found = [parts.username or "", parts.password or ""]
        found += [text for name, text in parse_qsl(parts.query) if _IN_QUERY.search(f"?{name}=x")]
    except ValueError:  # not an address
        return
    for one in found:
        yield from dict.fromkeys((one, unquote(one)))
