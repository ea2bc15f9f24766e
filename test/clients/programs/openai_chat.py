import json

import openai
from pydantic import BaseModel

from play import World, equal, key, model, place_schema, play, refusal, root, task, tools

# Every answer is held to the client's own models.
client = openai.OpenAI(base_url=f"{root}/v1", api_key=key, max_retries=0, _strict_response_validation=True)
functions = [
    {"type": "function", "function": {"name": t["name"], "description": t["description"], "parameters": t["schema"], "strict": True}}
    for t in tools
]


class Place(BaseModel):
    city: str
    degrees: float
    labels: list[str]


def ask(content):
    return [{"role": "system", "content": "Be brief."}, {"role": "user", "content": content}]


def loop(follow):
    world = World()
    messages = ask(task["tools"]["prompt"])
    for _ in range(8):
        completion = follow(messages)
        choice = completion.choices[0]
        assert completion.usage.total_tokens > 0
        message = choice.message
        messages.append(message.to_dict())
        if not message.tool_calls:
            equal(choice.finish_reason, "stop")
            equal(message.content, task["tools"]["text"])
            return world.check()
        for call in message.tool_calls:
            content = world.use(call.function.name, json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
    raise AssertionError("the loop did not end")


def streamed(messages):
    options = {"include_usage": True}
    with client.chat.completions.stream(
        model=model, messages=messages, tools=functions, stream_options=options
    ) as stream:
        return stream.get_final_completion()


def stream():
    texts, usage, finish = [], None, None
    for chunk in client.chat.completions.create(
        model=model, messages=ask(task["stream"]["prompt"]), stream=True, stream_options={"include_usage": True}
    ):
        if chunk.choices and chunk.choices[0].delta.content:
            texts.append(chunk.choices[0].delta.content)
        if chunk.choices and chunk.choices[0].finish_reason:
            finish = chunk.choices[0].finish_reason
        usage = chunk.usage or usage
    equal("".join(texts), task["stream"]["text"])
    assert len(texts) > 5
    equal(finish, "stop")
    assert usage.prompt_tokens > 0 and usage.completion_tokens > 0


def structured():
    messages = ask(task["structured"]["prompt"])
    parsed = client.chat.completions.parse(model=model, messages=messages, response_format=Place)
    equal(parsed.choices[0].message.parsed.model_dump(), task["structured"]["value"])
    plain = client.chat.completions.create(
        model=model,
        messages=messages,
        response_format={"type": "json_schema", "json_schema": {"name": "place", "schema": place_schema, "strict": True}},
    )
    equal(json.loads(plain.choices[0].message.content), task["structured"]["value"])


def cut():
    texts = []

    def read():
        for chunk in client.chat.completions.create(model=model, messages=ask(task["errors"]["cut"]), stream=True):
            if chunk.choices and chunk.choices[0].delta.content:
                texts.append(chunk.choices[0].delta.content)

    refusal(read, openai.APIError)
    assert texts, "nothing came before the error"


def create(content, **more):
    return client.chat.completions.create(**{"model": model, "messages": ask(content), **more})


play(
    {
        "tools": lambda: loop(lambda m: client.chat.completions.create(model=model, messages=m, tools=functions)),
        "tools streamed": lambda: loop(streamed),
        "stream": stream,
        "structured": structured,
        "unknown model": lambda: refusal(
            lambda: create("x", model=task["errors"]["unknownModel"]),
            openai.BadRequestError, 400, task["errors"]["unknownModel"],
        ),
        "bad parameter": lambda: refusal(lambda: create("x", temperature=99), openai.BadRequestError, 400, "temperature"),
        "upstream 429": lambda: refusal(lambda: create(task["errors"]["limited"]), openai.RateLimitError, 429),
        "upstream 500": lambda: refusal(lambda: create(task["errors"]["broken"]), openai.InternalServerError, 502),
        "error in stream": cut,
    }
)
