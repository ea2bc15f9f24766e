import asyncio

from openai import AsyncOpenAI
from pydantic import BaseModel
from pydantic_ai import Agent, Embedder, ModelHTTPError, NativeOutput, Tool
from pydantic_ai.embeddings.openai import OpenAIEmbeddingModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

from play import World, embedding_model, equal, key, model, play, refusal, root, task, tools, vector


class Place(BaseModel):
    city: str
    degrees: float
    labels: list[str]


def provider():
    return OpenAIProvider(openai_client=AsyncOpenAI(base_url=f"{root}/v1", api_key=key, max_retries=0))


def agent(kind=OpenAIChatModel, name=model, **more):
    return Agent(kind(name, provider=provider()), system_prompt="Be brief.", **more)


def own(world):
    return [
        Tool.from_schema(
            function=lambda _name=tool["name"], **given: world.use(_name, given),
            name=tool["name"],
            description=tool["description"],
            json_schema=tool["schema"],
        )
        for tool in tools
    ]


def whole():
    answer = agent().run_sync(task["stream"]["prompt"])
    equal(answer.output, task["stream"]["text"])
    assert answer.usage.output_tokens > 0


def stream():
    async def read():
        texts = []
        async with agent().run_stream(task["stream"]["prompt"]) as answer:
            async for piece in answer.stream_text(delta=True, debounce_by=None):
                texts.append(piece)
        equal("".join(texts), task["stream"]["text"])
        assert len(texts) > 5

    asyncio.run(read())


def loop(kind):
    world = World()
    answer = agent(kind, tools=own(world)).run_sync(task["tools"]["prompt"])
    equal(answer.output, task["tools"]["text"])
    world.check(at_once=True)


def streamed(kind):
    async def read():
        world = World()
        async with agent(kind, tools=own(world)).run_stream_events(task["tools"]["prompt"]) as events:
            results = [event async for event in events if event.event_kind == "agent_run_result"]
        equal(results[-1].result.output, task["tools"]["text"])
        world.check(at_once=True)

    asyncio.run(read())


def structured():
    answer = agent(output_type=NativeOutput(Place)).run_sync(task["structured"]["prompt"])
    equal(answer.output.model_dump(), task["structured"]["value"])


def embeddings():
    embedder = Embedder(OpenAIEmbeddingModel(embedding_model, provider=provider()))
    vector(embedder.embed_query_sync(task["embeddings"]["input"]).embeddings[0])


def failing(prompt, name=model):
    return agent(name=name).run_sync(prompt)


play(
    {
        "chat": whole,
        "stream": stream,
        "tool loop": lambda: loop(OpenAIChatModel),
        "tool loop, streamed": lambda: streamed(OpenAIChatModel),
        "tool loop, responses": lambda: loop(OpenAIResponsesModel),
        "tool loop, responses streamed": lambda: streamed(OpenAIResponsesModel),
        "structured": structured,
        "embeddings": embeddings,
        "unknown model": lambda: refusal(
            lambda: failing("x", task["errors"]["unknownModel"]), ModelHTTPError, 400, task["errors"]["unknownModel"]
        ),
        "upstream 429": lambda: refusal(lambda: failing(task["errors"]["limited"]), ModelHTTPError, 429),
        "upstream 500": lambda: refusal(lambda: failing(task["errors"]["broken"]), ModelHTTPError, 502),
    }
)
