import json

import openai
from haystack.components.agents import Agent
from haystack.components.embedders import OpenAITextEmbedder
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import Tool
from haystack.utils import Secret
from pydantic import BaseModel

from play import World, embedding_model, equal, key, model, play, refusal, root, task, tools, vector


class Place(BaseModel):
    city: str
    degrees: float
    labels: list[str]


def chat(name=model, **more):
    return OpenAIChatGenerator(
        model=name, api_base_url=f"{root}/v1", api_key=Secret.from_token(key), max_retries=0, **more
    )


def ask(content):
    return [ChatMessage.from_user(content)]


def say(prompt, name=model, **more):
    return chat(name, **more).run(ask(prompt))["replies"][0]


def whole():
    answer = say(task["stream"]["prompt"])
    equal(answer.text, task["stream"]["text"])
    assert answer.meta["usage"]["completion_tokens"] > 0


def stream():
    texts = []
    answer = say(task["stream"]["prompt"], streaming_callback=lambda piece: texts.append(piece.content) if piece.content else None)
    equal(answer.text, task["stream"]["text"])
    equal("".join(texts), task["stream"]["text"])
    assert len(texts) > 5


def loop(callback):
    world = World()
    own = [
        Tool(
            name=tool["name"],
            description=tool["description"],
            parameters=tool["schema"],
            function=lambda _name=tool["name"], **given: world.use(_name, given),
        )
        for tool in tools
    ]
    agent = Agent(chat_generator=chat(), tools=own, system_prompt="Be brief.", streaming_callback=callback)
    agent.warm_up()
    equal(agent.run(messages=ask(task["tools"]["prompt"]))["messages"][-1].text, task["tools"]["text"])
    world.check(at_once=True)


def structured():
    answer = say(task["structured"]["prompt"], generation_kwargs={"response_format": Place})
    equal(json.loads(answer.text), task["structured"]["value"])


def embeddings():
    embedder = OpenAITextEmbedder(
        model=embedding_model, api_base_url=f"{root}/v1", api_key=Secret.from_token(key), max_retries=0
    )
    vector(embedder.run(task["embeddings"]["input"])["embedding"])


play(
    {
        "chat": whole,
        "stream": stream,
        "tool loop": lambda: loop(None),
        "tool loop, streamed": lambda: loop(lambda piece: None),
        "structured": structured,
        "embeddings": embeddings,
        "unknown model": lambda: refusal(
            lambda: say("x", task["errors"]["unknownModel"]), openai.BadRequestError, 400, task["errors"]["unknownModel"]
        ),
        "upstream 429": lambda: refusal(lambda: say(task["errors"]["limited"]), openai.RateLimitError, 429),
        "upstream 500": lambda: refusal(lambda: say(task["errors"]["broken"]), openai.InternalServerError, 502),
    }
)
