"""A program of somebody who uses dspy, any release from 2.6 on: retrieval, extraction, an agent with tools, a
conversation, threads. A scripted model answers, so that it needs no network. It knows nothing of the workbench.

Its first argument is the exit code that it ends with.
"""

import asyncio
import os
import sys
from enum import Enum
from typing import Optional

import dspy
import litellm
import pydantic


class Scripted(dspy.LM):
    """Answers by what the prompt asks for."""

    def __init__(self, **params):
        super().__init__("openai/gpt-4o-mini", cache=False, temperature=0.5, max_tokens=1000, **params)

    def forward(self, prompt=None, messages=None, **params):
        text = "\n".join(str(one["content"]) for one in messages)
        return litellm.ModelResponse(
            model="gpt-4o-mini",
            choices=[{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": reply(text)}}],
            usage={"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        )

    async def aforward(self, prompt=None, messages=None, **params):
        return self.forward(prompt, messages, **params)


def reply(text):
    asked = text[-600:]
    done = "\n\n[[ ## completed ## ]]"
    if "[[ ## invoice" in asked:
        invoice = '{"items": [{"name": "pen", "price": 2}], "kind": "office"}'
        return f"[[ ## invoice ## ]]\n{invoice}\n\n[[ ## sure ## ]]\nyes{done}"
    if "next_tool_name" in asked:
        tool, given = ("finish", "{}") if "observation_0" in text else ("weather", '{"city": "Bern"}')
        head = "[[ ## next_thought ## ]]\nI look it up."
        return f"{head}\n\n[[ ## next_tool_name ## ]]\n{tool}\n\n[[ ## next_tool_args ## ]]\n{given}{done}"
    if "reasoning" in asked:
        return f"[[ ## reasoning ## ]]\nThe context says so.\n\n[[ ## answer ## ]]\nBern{done}"
    if "JSON object" in asked:
        return '{"answer": "42"}'
    if "without markers" in asked:
        return "the answer is 42"
    return f"[[ ## answer ## ]]\nfine{done}"


class Kind(str, Enum):  # noqa: UP042
    OFFICE = "office"
    TRAVEL = "travel"


class Item(pydantic.BaseModel):
    """One line of an invoice."""

    name: str = pydantic.Field(description="what it is")
    price: float
    count: int = pydantic.Field(1, ge=1)


class Invoice(pydantic.BaseModel):
    items: list[Item]
    kind: Kind
    note: Optional[str] = None  # noqa: UP045  (as programs of Python 3.9 write it)


class Extract(dspy.Signature):
    """Extract the invoice."""

    text: str = dspy.InputField(desc="the mail")
    invoice: Invoice = dspy.OutputField()
    sure: bool = dspy.OutputField()


class Talk(dspy.Signature):
    """Answer in the conversation."""

    history: dspy.History = dspy.InputField()
    question: str = dspy.InputField()
    answer: str = dspy.OutputField()


class RAG(dspy.Module):
    def __init__(self):
        super().__init__()
        self.respond = dspy.ChainOfThought("context: list[str], question -> answer")

    def retrieve(self, question):
        return [f"A passage about {question}", "Bern is a city."]

    def forward(self, question):
        return self.respond(context=self.retrieve(question), question=question)

    async def aforward(self, question):
        return await self.respond.acall(context=self.retrieve(question), question=question)


def weather(city: str) -> str:
    """The weather of a city."""
    return f"sunny in {city}"


def main():
    os.environ["THEIR_API_KEY"] = "planted-in-the-environment-1"
    headers = {"X-Token": "planted-in-a-header-2"}
    dspy.configure(lm=Scripted(api_key="planted-as-api-key-3", extra_headers=headers))
    rag = RAG()
    for question in ("Capital of Switzerland?", "Capital of Switzerland?", "Where is Bern?"):
        print(rag(question=question).answer)
    print(asyncio.run(rag.acall(question="And without waiting?")).answer)
    extract = dspy.Predict(Extract)
    pen = Invoice(items=[Item(name="pen", price=1.0)], kind=Kind.OFFICE)
    extract.demos = [dspy.Example(text="a pen", invoice=pen, sure=True)]
    print(extract(text="one pen for 2").invoice)
    agent = dspy.ReAct("question -> answer", tools=[weather], max_iters=3)
    print(agent(question="Weather in Bern?").answer)
    earlier = dspy.History(messages=[{"question": "hi", "answer": "hello"}])
    print(dspy.Predict(Talk)(history=earlier, question="how are you?").answer)
    print(dspy.Predict("question -> answer")(question="an answer without markers").answer)
    pairs = [(rag, dspy.Example(question=f"in thread {number}?").with_inputs("question")) for number in range(4)]
    print([one.answer for one in dspy.Parallel(num_threads=3, disable_progress_bar=True)(pairs)])
    print("and this is said to people", file=sys.stderr)


if __name__ == "__main__":
    main()
    sys.exit(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
