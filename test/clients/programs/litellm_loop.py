import json
import os

# Its table of prices would be fetched from the network.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm

from play import World, embedding_model, equal, key, model, place_schema, play, refusal, root, task, tools, vector

litellm.telemetry = False
functions = [
    {"type": "function", "function": {"name": t["name"], "description": t["description"], "parameters": t["schema"]}}
    for t in tools
]


def complete(messages, **more):
    given = {"model": f"openai/{model}", "api_base": f"{root}/v1", "api_key": key, "num_retries": 0, "max_retries": 0}
    return litellm.completion(**{**given, "messages": messages, **more})


def ask(content):
    return [{"role": "system", "content": "Be brief."}, {"role": "user", "content": content}]


def loop(follow):
    world = World()
    messages = ask(task["tools"]["prompt"])
    for _ in range(8):
        message, finish = follow(messages)
        # The library's own message goes back with all that it added to it.
        messages.append(message.model_dump())
        if not message.tool_calls:
            equal(finish, "stop")
            equal(message.content, task["tools"]["text"])
            return world.check()
        equal(finish, "tool_calls")
        for call in message.tool_calls:
            content = world.use(call.function.name, json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
    raise AssertionError("the loop did not end")


def whole(messages):
    answer = complete(messages, tools=functions)
    assert answer.usage.total_tokens > 0
    return answer.choices[0].message, answer.choices[0].finish_reason


def marked(messages):
    """As its Gemini and Anthropic routes leave messages: with members that no contract knows."""
    message, finish = whole(messages)
    message.provider_specific_fields = {"citations": None, "thinking_blocks": None}
    for call in message.tool_calls or []:
        call.provider_specific_fields = {"thought_signature": "x"}
    return message, finish


def streamed(messages):
    chunks = list(complete(messages, tools=functions, stream=True, stream_options={"include_usage": True}))
    answer = litellm.stream_chunk_builder(chunks, messages=messages)
    return answer.choices[0].message, answer.choices[0].finish_reason


def stream():
    texts = []
    for chunk in complete(ask(task["stream"]["prompt"]), stream=True):
        if chunk.choices and chunk.choices[0].delta.content:
            texts.append(chunk.choices[0].delta.content)
    equal("".join(texts), task["stream"]["text"])
    assert len(texts) > 5


def chat():
    answer = complete(ask(task["stream"]["prompt"]))
    equal(answer.choices[0].message.content, task["stream"]["text"])


def embeddings():
    answer = litellm.embedding(
        model=f"openai/{embedding_model}", input=[task["embeddings"]["input"]], api_base=f"{root}/v1", api_key=key, max_retries=0
    )
    vector(answer.data[0]["embedding"])


def structured():
    form = {"type": "json_schema", "json_schema": {"name": "place", "schema": place_schema, "strict": True}}
    answer = complete(ask(task["structured"]["prompt"]), response_format=form)
    equal(json.loads(answer.choices[0].message.content), task["structured"]["value"])


def cut():
    texts = []

    def read():
        for chunk in complete(ask(task["errors"]["cut"]), stream=True):
            if chunk.choices and chunk.choices[0].delta.content:
                texts.append(chunk.choices[0].delta.content)

    refusal(read, Exception)
    assert texts, "nothing came before the error"


play(
    {
        "chat": chat,
        **({"embeddings": embeddings} if embedding_model else {}),
        "tools": lambda: loop(whole),
        "tools, fields of its own": lambda: loop(marked),
        "tools streamed": lambda: loop(streamed),
        "stream": stream,
        "structured": structured,
        "unknown model": lambda: refusal(
            lambda: complete(ask("x"), model=f"openai/{task['errors']['unknownModel']}"),
            litellm.BadRequestError, 400, task["errors"]["unknownModel"],
        ),
        "bad parameter": lambda: refusal(
            lambda: complete(ask("x"), temperature=99), litellm.BadRequestError, 400, "temperature"
        ),
        "upstream 429": lambda: refusal(lambda: complete(ask(task["errors"]["limited"])), litellm.RateLimitError, 429),
        "upstream 500": lambda: refusal(lambda: complete(ask(task["errors"]["broken"])), litellm.exceptions.BadGatewayError, 502),
        "error in stream": cut,
    }
)
