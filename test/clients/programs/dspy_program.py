import json
import os

# Its table of prices would be fetched from the network.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import dspy

from play import World, embedding_model, equal, key, model, play, refusal, root, task, tools, vector



def language(name=model):
    return dspy.LM(
        f"openai/{name}", api_base=f"{root}/v1", api_key=key, cache=False, num_retries=0, max_tokens=16000, temperature=None
    )


def whole():
    own = language()
    equal(own(task["stream"]["prompt"])[0], task["stream"]["text"])
    assert own.history[-1]["usage"]["completion_tokens"] > 0


def loop():
    world = World()
    functions = [
        {"type": "function", "function": {"name": t["name"], "description": t["description"], "parameters": t["schema"]}}
        for t in tools
    ]
    own = language()
    messages = [{"role": "user", "content": task["tools"]["prompt"]}]
    for _ in range(8):
        answer = own(messages=messages, tools=functions)[0]
        calls = answer.get("tool_calls") if isinstance(answer, dict) else None
        if not calls:
            equal(answer["text"] if isinstance(answer, dict) else answer, task["tools"]["text"])
            return world.check()
        messages.append({"role": "assistant", "content": answer.get("text"), "tool_calls": [call.model_dump() for call in calls]})
        for call in calls:
            content = world.use(call.function.name, json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
    raise AssertionError("the loop did not end")


def structured():
    with dspy.context(lm=language(), adapter=dspy.JSONAdapter()):
        answer = dspy.Predict("question -> city: str, degrees: float, labels: list[str]")(question=task["structured"]["prompt"])
    equal(answer.toDict(), task["structured"]["value"])


def stream():
    with dspy.context(lm=language(), adapter=dspy.JSONAdapter()):
        predict = dspy.Predict("question -> city: str, degrees: float, labels: list[str]")
        listeners = [dspy.streaming.StreamListener(signature_field_name="city")]
        follow = dspy.streamify(predict, stream_listeners=listeners, async_streaming=False)
        pieces = list(follow(question=task["structured"]["prompt"]))
    equal(pieces[-1].city, task["structured"]["value"]["city"])
    # Its listener waits for a line break, which a model need not write, and then has more than the field.
    said = "".join(piece.chunk for piece in pieces[:-1] if hasattr(piece, "chunk"))
    assert task["structured"]["value"]["city"] in said, said


def embeddings():
    embedder = dspy.Embedder(f"openai/{embedding_model}", api_base=f"{root}/v1", api_key=key, caching=False)
    vector(list(embedder(task["embeddings"]["input"])))


play(
    {
        "chat": whole,
        "stream": stream,
        "tool loop": loop,
        "structured": structured,
        "embeddings": embeddings,
        "unknown model": lambda: refusal(
            lambda: language(task["errors"]["unknownModel"])("x"), dspy.LMInvalidRequestError, 400, task["errors"]["unknownModel"]
        ),
        "upstream 429": lambda: refusal(lambda: language()(task["errors"]["limited"]), dspy.LMRateLimitError, 429),
        "upstream 500": lambda: refusal(lambda: language()(task["errors"]["broken"]), dspy.LMServerError, 502),
    }
)
