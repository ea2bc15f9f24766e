import asyncio
import json

import openai
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool, ToolMetadata
from llama_index.embeddings.openai import OpenAIEmbedding
from llama_index.llms.openai_like import OpenAILike
from pydantic import BaseModel

from play import World, embedding_model, equal, key, model, place_schema, play, refusal, root, task, vector


class WeatherInput(BaseModel):
    city: str
    unit: str


class Flags(BaseModel):
    exact: bool


class ConvertInput(BaseModel):
    celsius: float
    flags: Flags
    labels: list[str]


class NoteInput(BaseModel):
    pass


def chat(name=model):
    return OpenAILike(
        model=name, api_base=f"{root}/v1", api_key=key, max_retries=0,
        is_chat_model=True, is_function_calling_model=True, context_window=100_000,
    )


def ask(content):
    return [ChatMessage(role="user", content=content)]


def whole():
    answer = chat().chat(ask(task["stream"]["prompt"]))
    equal(answer.message.content, task["stream"]["text"])
    assert answer.raw.usage.completion_tokens > 0


def stream():
    pieces = [piece.delta for piece in chat().stream_chat(ask(task["stream"]["prompt"])) if piece.delta]
    equal("".join(pieces), task["stream"]["text"])
    assert len(pieces) > 5


def loop(streams):
    world = World()
    inputs = {"weather": WeatherInput, "convert": ConvertInput, "note": NoteInput}

    def own(name, schema):
        def use(**given):
            return world.use(name, json.loads(json.dumps(given, default=lambda value: value.model_dump())))

        return FunctionTool(use, metadata=ToolMetadata(name=name, description=name, fn_schema=schema))

    async def run():
        agent = FunctionAgent(
            tools=[own(name, schema) for name, schema in inputs.items()],
            llm=chat(), system_prompt="Be brief.", streaming=streams,
        )
        return await agent.run(task["tools"]["prompt"])

    equal(str(asyncio.run(run())), task["tools"]["text"])
    world.check(at_once=True)


def structured():
    form = {"type": "json_schema", "json_schema": {"name": "place", "schema": place_schema, "strict": True}}
    answer = chat().chat(ask(task["structured"]["prompt"]), response_format=form)
    equal(json.loads(answer.message.content), task["structured"]["value"])


def embeddings():
    embedder = OpenAIEmbedding(model_name=embedding_model, api_base=f"{root}/v1", api_key=key, max_retries=0)
    vector(embedder.get_text_embedding(task["embeddings"]["input"]))


play(
    {
        "chat": whole,
        "stream": stream,
        "tool loop": lambda: loop(False),
        "tool loop, streamed": lambda: loop(True),
        "structured": structured,
        "embeddings": embeddings,
        "unknown model": lambda: refusal(
            lambda: chat(task["errors"]["unknownModel"]).chat(ask("x")), openai.BadRequestError, 400, task["errors"]["unknownModel"]
        ),
        "upstream 429": lambda: refusal(lambda: chat().chat(ask(task["errors"]["limited"])), openai.RateLimitError, 429),
        "upstream 500": lambda: refusal(lambda: chat().chat(ask(task["errors"]["broken"])), openai.InternalServerError, 502),
    }
)
