import json

import llm
import openai
from llm.default_plugins.openai_models import Chat, OpenAIEmbeddingModel

from play import World, embedding_model, equal, key, model, place_schema, play, refusal, root, task, tools, vector


def chat(name=model):
    return Chat("own", model_name=name, api_base=f"{root}/v1", supports_tools=True, supports_schema=True)


def prompt(text, name=model, **more):
    return chat(name).prompt(text, key=key, **more)


def whole():
    answer = prompt(task["stream"]["prompt"], stream=False)
    equal(answer.text(), task["stream"]["text"])
    assert answer.usage().output > 0


def stream():
    answer = prompt(task["stream"]["prompt"], stream=True)
    texts = list(answer)
    equal("".join(texts), task["stream"]["text"])
    assert len(texts) > 5


def loop(streams):
    world = World()
    own = [
        llm.Tool(
            name=tool["name"],
            description=tool["description"],
            input_schema=tool["schema"],
            implementation=lambda _name=tool["name"], **given: world.use(_name, given),
        )
        for tool in tools
    ]
    chain = chat().chain(task["tools"]["prompt"], key=key, tools=own, stream=streams)
    said = "".join(chain)
    assert said.endswith(task["tools"]["text"]), said
    world.check(at_once=True)


def structured():
    answer = prompt(task["structured"]["prompt"], schema=place_schema, stream=False)
    equal(json.loads(answer.text()), task["structured"]["value"])


def embeddings():
    own = OpenAIEmbeddingModel("own", embedding_model)
    own.get_key = lambda *_: key
    openai.base_url = f"{root}/v1"
    client = openai.OpenAI
    openai.OpenAI = lambda **given: client(**{**given, "base_url": f"{root}/v1"})
    try:
        vector(own.embed(task["embeddings"]["input"]))
    finally:
        openai.OpenAI = client


def failing(text, name=model):
    return prompt(text, name, stream=False).text()


play(
    {
        "chat": whole,
        "stream": stream,
        "tool loop": lambda: loop(False),
        "tool loop, streamed": lambda: loop(True),
        "structured": structured,
        "embeddings": embeddings,
        "unknown model": lambda: refusal(
            lambda: failing("x", task["errors"]["unknownModel"]), openai.BadRequestError, 400, task["errors"]["unknownModel"]
        ),
        "upstream 429": lambda: refusal(lambda: failing(task["errors"]["limited"]), openai.RateLimitError, 429),
        "upstream 500": lambda: refusal(lambda: failing(task["errors"]["broken"]), openai.InternalServerError, 502),
    }
)
