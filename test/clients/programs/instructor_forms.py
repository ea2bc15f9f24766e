import json

import instructor
import openai
from pydantic import BaseModel

from play import World, equal, key, model, play, refusal, root, task, tools


class Place(BaseModel):
    city: str
    degrees: float
    labels: list[str]


plain = openai.OpenAI(base_url=f"{root}/v1", api_key=key, max_retries=0)
client = instructor.from_openai(plain, mode=instructor.Mode.JSON_SCHEMA)
functions = [
    {"type": "function", "function": {"name": t["name"], "description": t["description"], "parameters": t["schema"]}}
    for t in tools
]


def ask(content):
    return [{"role": "system", "content": "Be brief."}, {"role": "user", "content": content}]


def create(content, **more):
    return client.chat.completions.create(**{"model": model, "messages": ask(content), "max_retries": 0, **more})


def whole():
    answer = create(task["stream"]["prompt"], response_model=None)
    equal(answer.choices[0].message.content, task["stream"]["text"])


def stream():
    states = list(client.chat.completions.create_partial(
        model=model, messages=ask(task["structured"]["prompt"]), response_model=Place, max_retries=0
    ))
    assert len(states) > 5, f"{len(states)} states"
    equal(states[-1].model_dump(), task["structured"]["value"])


def loop():
    world = World()
    messages = ask(task["tools"]["prompt"])
    for _ in range(8):
        answer = client.chat.completions.create(model=model, messages=messages, tools=functions, response_model=None, max_retries=0)
        message = answer.choices[0].message
        messages.append(message.to_dict())
        if not message.tool_calls:
            equal(message.content, task["tools"]["text"])
            return world.check()
        for call in message.tool_calls:
            content = world.use(call.function.name, json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
    raise AssertionError("the loop did not end")


def structured():
    value, completion = client.chat.completions.create_with_completion(
        model=model, messages=ask(task["structured"]["prompt"]), response_model=Place, max_retries=0
    )
    equal(value.model_dump(), task["structured"]["value"])
    assert completion.usage.total_tokens > 0


play(
    {
        "chat": whole,
        "stream": stream,
        "tool loop": loop,
        "structured": structured,
        "unknown model": lambda: refusal(
            lambda: create("x", response_model=None, model=task["errors"]["unknownModel"]), openai.BadRequestError, 400, task["errors"]["unknownModel"]
        ),
        "upstream 429": lambda: refusal(lambda: create(task["errors"]["limited"], response_model=None), openai.RateLimitError, 429),
        "upstream 500": lambda: refusal(lambda: create(task["errors"]["broken"], response_model=None), openai.InternalServerError, 502),
    }
)
