import json

import openai
from smolagents import ChatMessage, OpenAIModel, Tool, ToolCallingAgent

from play import World, equal, key, model, place_schema, play, refusal, root, task, tools


def own_model(name=model):
    return OpenAIModel(
        model_id=name, api_base=f"{root}/v1", api_key=key, client_kwargs={"max_retries": 0}, retry=False
    )


def ask(content):
    return [ChatMessage(role="user", content=[{"type": "text", "text": content}])]


def whole():
    answer = own_model().generate(ask(task["stream"]["prompt"]))
    equal(answer.content, task["stream"]["text"])
    assert answer.token_usage.output_tokens > 0


def stream():
    pieces = list(own_model().generate_stream(ask(task["stream"]["prompt"])))
    texts = [piece.content for piece in pieces if piece.content]
    equal("".join(texts), task["stream"]["text"])
    assert len(texts) > 5
    assert any(piece.token_usage and piece.token_usage.output_tokens > 0 for piece in pieces)


class Weather(Tool):
    name = "weather"
    description = "The weather of a city"
    inputs = {"city": {"type": "string", "description": "Where"}, "unit": {"type": "string", "description": "C or F"}}
    output_type = "string"

    def __init__(self, world):
        super().__init__()
        self.world = world

    def forward(self, city: str, unit: str) -> str:
        return self.world.use("weather", {"city": city, "unit": unit})


class Convert(Tool):
    name = "convert"
    description = "Degrees in Fahrenheit"
    inputs = {
        "celsius": {"type": "number", "description": "Degrees"},
        "flags": {"type": "object", "description": "How"},
        "labels": {"type": "array", "description": "Marks", "items": {"type": "string"}},
    }
    output_type = "string"

    def __init__(self, world):
        super().__init__()
        self.world = world

    def forward(self, celsius: float, flags: dict, labels: list) -> str:
        return self.world.use("convert", {"celsius": celsius, "flags": flags, "labels": labels})


class Note(Tool):
    name = "note"
    description = "Remembers"
    inputs = {}
    output_type = "string"

    def __init__(self, world):
        super().__init__()
        self.world = world

    def forward(self) -> str:
        return self.world.use("note", {})


def loop(streams):
    world = World()
    agent = ToolCallingAgent(
        tools=[Weather(world), Convert(world), Note(world)],
        model=own_model(),
        max_steps=8,
        stream_outputs=streams,
        max_tool_threads=1,
        verbosity_level=0,
    )
    # It ends by a tool of its own, which the model of this prompt calls last.
    equal(agent.run(task["final"]["prompt"]), task["tools"]["text"])
    world.check(at_once=True)


def structured():
    form = {"type": "json_schema", "json_schema": {"name": "place", "schema": place_schema, "strict": True}}
    answer = own_model().generate(ask(task["structured"]["prompt"]), response_format=form)
    equal(json.loads(answer.content), task["structured"]["value"])


play(
    {
        "chat": whole,
        "stream": stream,
        "tool loop": lambda: loop(False),
        "tool loop, streamed": lambda: loop(True),
        "structured": structured,
        "unknown model": lambda: refusal(
            lambda: own_model(task["errors"]["unknownModel"]).generate(ask("x")), openai.BadRequestError, 400, task["errors"]["unknownModel"]
        ),
        "upstream 429": lambda: refusal(lambda: own_model().generate(ask(task["errors"]["limited"])), openai.RateLimitError, 429),
        "upstream 500": lambda: refusal(lambda: own_model().generate(ask(task["errors"]["broken"])), openai.InternalServerError, 502),
    }
)
