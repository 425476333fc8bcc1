"""A model for dspy that answers by a script, and the form of its replies."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import dspy
from dspy.dsp.utils.utils import dotdict

warnings.filterwarnings("ignore", message="Implementing custom LMs", category=DeprecationWarning)


class Scripted(dspy.BaseLM):  # type: ignore[misc]
    """Answers with `answer` of the text it is asked: a text, or several where several completions are wanted.

    Its responses are made as those of dspy's `DummyLM` are: loading litellm takes longer than the rest of a program.
    """

    def __init__(self, answer: Callable[[str], Any], **params: Any) -> None:
        super().__init__(model="scripted/model", **params)
        self.answer = answer

    def forward(self, prompt: Any = None, messages: Any = None, **kwargs: Any) -> Any:
        said = self.answer("\n".join(str(one["content"]) for one in messages))
        texts = said if isinstance(said, list) else [said]
        choices = [
            dotdict(index=index, finish_reason="stop", message=dotdict(role="assistant", content=text))
            for index, text in enumerate(texts)
        ]
        usage = dotdict(prompt_tokens=1, completion_tokens=1, total_tokens=2)
        return dotdict(model="scripted", choices=choices, usage=usage)

    async def aforward(self, prompt: Any = None, messages: Any = None, **kwargs: Any) -> Any:
        return self.forward(prompt, messages, **kwargs)


def chat(**fields: str) -> str:
    """A reply in the form of dspy's chat adapter."""
    return "\n\n".join([*(f"[[ ## {name} ## ]]\n{text}" for name, text in fields.items()), "[[ ## completed ## ]]"])
