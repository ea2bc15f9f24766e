import anthropic
from pydantic import BaseModel

from play import World, equal, key, model, play, refusal, root, task, tools

# Every answer is held to the client's own models.
client = anthropic.Anthropic(base_url=root, auth_token=key, api_key=None, max_retries=0, _strict_response_validation=True)
offered = [{"name": t["name"], "description": t["description"], "input_schema": t["schema"]} for t in tools]


class Place(BaseModel):
    city: str
    degrees: float
    labels: list[str]


def ask(content):
    return {
        "model": model,
        "max_tokens": 2000,
        "system": "Be brief.",
        "messages": [{"role": "user", "content": content}],
    }


def loop(follow):
    world = World()
    params = ask(task["tools"]["prompt"])
    for _ in range(8):
        message = follow({**params, "tools": offered})
        assert message.usage.input_tokens > 0 and message.usage.output_tokens > 0
        params["messages"].append({"role": "assistant", "content": [b.to_dict() for b in message.content]})
        called = [b for b in message.content if b.type == "tool_use"]
        if not called:
            equal(message.stop_reason, "end_turn")
            equal([b.text for b in message.content], [task["tools"]["text"]])
            return world.check()
        equal(message.stop_reason, "tool_use")
        results = [
            {"type": "tool_result", "tool_use_id": b.id, "content": world.use(b.name, b.input)} for b in called
        ]
        params["messages"].append({"role": "user", "content": results})
    raise AssertionError("the loop did not end")


def streamed(params):
    with client.messages.stream(**params) as stream:
        return stream.get_final_message()


def stream():
    with client.messages.stream(**ask(task["stream"]["prompt"])) as opened:
        texts = list(opened.text_stream)
        message = opened.get_final_message()
    equal("".join(texts), task["stream"]["text"])
    assert len(texts) > 5
    equal(message.stop_reason, "end_turn")
    assert message.usage.input_tokens > 0 and message.usage.output_tokens > 0


def structured():
    parsed = client.messages.parse(**ask(task["structured"]["prompt"]), output_format=Place)
    equal(parsed.parsed_output.model_dump(), task["structured"]["value"])


def count():
    params = ask(task["stream"]["prompt"])
    counted = client.messages.count_tokens(model=model, system=params["system"], messages=params["messages"])
    assert 5 < counted.input_tokens < 100, counted


def cut():
    texts = []

    def read():
        with client.messages.stream(**ask(task["errors"]["cut"])) as opened:
            for text in opened.text_stream:
                texts.append(text)

    refusal(read, anthropic.APIError)
    assert texts, "nothing came before the error"


def create(content, **more):
    return client.messages.create(**{**ask(content), **more})


play(
    {
        "tools": lambda: loop(lambda params: client.messages.create(**params)),
        "tools streamed": lambda: loop(streamed),
        "stream": stream,
        "structured": structured,
        "count tokens": count,
        "unknown model": lambda: refusal(
            lambda: create("x", model=task["errors"]["unknownModel"]),
            anthropic.BadRequestError, 400, task["errors"]["unknownModel"],
        ),
        "bad parameter": lambda: refusal(lambda: create("x", max_tokens=-1), anthropic.BadRequestError, 400, "max_tokens"),
        "upstream 429": lambda: refusal(lambda: create(task["errors"]["limited"]), anthropic.RateLimitError, 429),
        "upstream 500": lambda: refusal(lambda: create(task["errors"]["broken"]), anthropic.InternalServerError, 502),
        "error in stream": cut,
    }
)
