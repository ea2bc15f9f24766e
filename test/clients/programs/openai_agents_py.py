import asyncio
import json

import agents
import openai
from pydantic import BaseModel

from play import World, equal, key, model, play, refusal, root, task, tools

# Traces would go to its maker.
agents.set_tracing_disabled(True)


class Place(BaseModel):
    city: str
    degrees: float
    labels: list[str]


def agent(kind, name=model, **more):
    client = openai.AsyncOpenAI(base_url=f"{root}/v1", api_key=key, max_retries=0)
    return agents.Agent(name="Clerk", instructions="Be brief.", model=kind(model=name, openai_client=client), **more)


def run(given, prompt):
    return asyncio.run(agents.Runner.run(given, prompt))


def own(world):
    def tool(described):
        async def invoke(_, arguments):
            return world.use(described["name"], json.loads(arguments))

        return agents.FunctionTool(
            name=described["name"],
            description=described["description"],
            params_json_schema=described["schema"],
            on_invoke_tool=invoke,
        )

    return [tool(described) for described in tools]


def whole(kind):
    answer = run(agent(kind), task["stream"]["prompt"])
    equal(answer.final_output, task["stream"]["text"])
    assert answer.raw_responses[0].usage.output_tokens > 0


def stream(kind):
    async def read():
        texts = []
        answer = agents.Runner.run_streamed(agent(kind), task["stream"]["prompt"])
        async for event in answer.stream_events():
            if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
                texts.append(event.data.delta)
        equal("".join(texts), task["stream"]["text"])
        assert len(texts) > 5

    asyncio.run(read())


def loop(kind):
    world = World()
    answer = run(agent(kind, tools=own(world)), task["tools"]["prompt"])
    equal(answer.final_output, task["tools"]["text"])
    world.check(at_once=True)


def streamed(kind):
    async def read():
        world = World()
        answer = agents.Runner.run_streamed(agent(kind, tools=own(world)), task["tools"]["prompt"])
        async for _ in answer.stream_events():
            pass
        equal(answer.final_output, task["tools"]["text"])
        world.check(at_once=True)

    asyncio.run(read())


def structured(kind):
    answer = run(agent(kind, output_type=Place), task["structured"]["prompt"])
    equal(answer.final_output.model_dump(), task["structured"]["value"])


responses, chat = agents.OpenAIResponsesModel, agents.OpenAIChatCompletionsModel
play(
    {
        "chat": lambda: whole(responses),
        "chat, completions": lambda: whole(chat),
        "stream": lambda: stream(responses),
        "stream, completions": lambda: stream(chat),
        "tool loop": lambda: loop(responses),
        "tool loop, completions": lambda: loop(chat),
        "tool loop, streamed": lambda: streamed(responses),
        "tool loop, completions streamed": lambda: streamed(chat),
        "structured": lambda: structured(responses),
        "structured, completions": lambda: structured(chat),
        "unknown model": lambda: refusal(
            lambda: run(agent(responses, task["errors"]["unknownModel"]), "x"), openai.BadRequestError, 400, task["errors"]["unknownModel"]
        ),
        "upstream 429": lambda: refusal(lambda: run(agent(responses), task["errors"]["limited"]), openai.RateLimitError, 429),
        "upstream 500": lambda: refusal(lambda: run(agent(responses), task["errors"]["broken"]), openai.InternalServerError, 502),
    }
)
