"""The variables that hold API keys, against those that the installed litellm looks at."""

from __future__ import annotations

import os
import re
from typing import Any

import pytest

from adapters.lm.addresses import key_variables

LOGS_IN = ("github_copilot", "chatgpt")
"""Providers that would begin a login over the network."""
OF_ANOTHER = ("MISTRAL_AZURE_API_KEY",)


class Watched(dict[str, str]):
    """An environment that notes the names of keys that are looked up."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def get(self, name: str, default: Any = None) -> Any:
        if re.search(r"(KEY|TOKEN)$", name) and name not in OF_ANOTHER:
            self.asked.append(name)
        return super().get(name, default)


def test_every_variable_that_litellm_looks_at_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm

    missing: dict[str, list[str]] = {}
    compared = 0
    for provider in (str(getattr(one, "value", one)) for one in litellm.provider_list):
        if provider in LOGS_IN:
            continue
        environment = Watched()
        with monkeypatch.context() as patched:
            patched.setattr(os, "environ", environment)
            try:
                litellm.get_llm_provider(f"{provider}/x")
            except Exception:
                pass
        asked = list(dict.fromkeys(environment.asked))
        compared += bool(asked)
        ours = list(key_variables(provider))
        if asked and ours[: len(asked)] != asked:
            missing[provider] = asked
    assert compared > 60
    assert missing == {}
