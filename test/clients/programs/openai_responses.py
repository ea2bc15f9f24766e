import json

import openai
from pydantic import BaseModel

from play import World, equal, key, model, play, refusal, root, sealed_thoughts, task, tools

# Every answer is held to the client's own models.
client = openai.OpenAI(base_url=f"{root}/v1", api_key=key, max_retries=0, _strict_response_validation=True)
functions = [
    {"type": "function", "name": t["name"], "description": t["description"], "parameters": t["schema"], "strict": True}
    for t in tools
]
thinking = {"reasoning": {"effort": "high", "summary": "auto"}, "include": ["reasoning.encrypted_content"], "store": False}


class Place(BaseModel):
    city: str
    degrees: float
    labels: list[str]


def loop(follow):
    world = World()
    given = [{"role": "user", "content": task["tools"]["prompt"]}]
    thoughts = 0
    for _ in range(8):
        response = follow(given)
        equal(response.status, "completed")
        assert response.usage.total_tokens > 0
        thoughts += sum(1 for item in response.output if item.type == "reasoning" and item.encrypted_content)
        given += [item.to_dict() for item in response.output]
        called = [item for item in response.output if item.type == "function_call"]
        if not called:
            equal(response.output_text, task["tools"]["text"])
            equal(thoughts, sealed_thoughts)
            return world.check()
        for call in called:
            output = world.use(call.name, json.loads(call.arguments))
            given.append({"type": "function_call_output", "call_id": call.call_id, "output": output})
    raise AssertionError("the loop did not end")


def streamed(given):
    with client.responses.stream(model=model, input=given, tools=functions, **thinking) as stream:
        return stream.get_final_response()


def stream():
    texts, types = [], []
    for event in client.responses.create(model=model, input=task["stream"]["prompt"], stream=True):
        equal(event.sequence_number, len(types))
        types.append(event.type)
        if event.type == "response.output_text.delta":
            texts.append(event.delta)
    equal("".join(texts), task["stream"]["text"])
    assert len(texts) > 5
    equal([types[0], types[-1]], ["response.created", "response.completed"])
    assert event.response.usage.total_tokens > 0


def structured():
    parsed = client.responses.parse(model=model, input=task["structured"]["prompt"], text_format=Place)
    equal(parsed.output_parsed.model_dump(), task["structured"]["value"])


def cut():
    text, failed = "", None
    for event in client.responses.create(model=model, input=task["errors"]["cut"], stream=True):
        if event.type == "response.output_text.delta":
            text += event.delta
        if event.type == "response.failed":
            failed = event.response
    assert text, "nothing came before the error"
    equal(failed.status, "failed")
    assert failed.error.message


def create(given, **more):
    return client.responses.create(**{"model": model, "input": given, **more})


play(
    {
        "tools": lambda: loop(lambda i: client.responses.create(model=model, input=i, tools=functions, **thinking)),
        "tools streamed": lambda: loop(streamed),
        "stream": stream,
        "structured": structured,
        "unknown model": lambda: refusal(
            lambda: create("x", model=task["errors"]["unknownModel"]),
            openai.BadRequestError, 400, task["errors"]["unknownModel"],
        ),
        "bad parameter": lambda: refusal(lambda: create("x", top_p=7), openai.BadRequestError, 400, "top_p"),
        "upstream 429": lambda: refusal(lambda: create(task["errors"]["limited"]), openai.RateLimitError, 429),
        "upstream 500": lambda: refusal(lambda: create(task["errors"]["broken"]), openai.InternalServerError, 502),
        "error in stream": cut,
    }
)
