import openai
from langchain.agents import create_agent
from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from pydantic import BaseModel

from play import World, embedding_model, equal, key, model, play, refusal, root, task, tools, vector


class Place(BaseModel):
    city: str
    degrees: float
    labels: list[str]


def chat(**more):
    given = {"model": model, "base_url": f"{root}/v1", "api_key": key, "max_retries": 0, "stream_usage": True}
    return ChatOpenAI(**{**given, **more})


def ended(metadata):
    """Of models that it knows to think it asks responses, which tell a status in place of a reason."""
    equal(metadata.get("finish_reason") or metadata.get("status"), "completed" if "status" in metadata else "stop")


def whole():
    answer = chat().invoke(task["stream"]["prompt"])
    equal(answer.text, task["stream"]["text"])
    assert answer.usage_metadata["output_tokens"] > 0
    ended(answer.response_metadata)


def stream():
    pieces = list(chat().stream(task["stream"]["prompt"]))
    joined = pieces[0]
    for piece in pieces[1:]:
        joined += piece
    equal(joined.text, task["stream"]["text"])
    assert len([piece for piece in pieces if piece.text]) > 5
    assert joined.usage_metadata["output_tokens"] > 0
    ended(joined.response_metadata)


def loop(run):
    world = World()
    own = [
        StructuredTool.from_function(
            func=lambda _name=tool["name"], **given: world.use(_name, given),
            name=tool["name"],
            description=tool["description"],
            args_schema=tool["schema"],
        )
        for tool in tools
    ]
    agent = create_agent(chat(), own, system_prompt="Be brief.")
    messages = run(agent, {"messages": [{"role": "user", "content": task["tools"]["prompt"]}]})
    equal(messages[-1].text, task["tools"]["text"])
    world.check(at_once=True)


def streamed(agent, given):
    last = None
    for value in agent.stream(given, stream_mode=["messages", "values"]):
        if value[0] == "values":
            last = value[1]["messages"]
    return last


def structured():
    value = chat().with_structured_output(Place, method="json_schema").invoke(task["structured"]["prompt"])
    equal(value.model_dump(), task["structured"]["value"])


def embeddings():
    embedder = OpenAIEmbeddings(model=embedding_model, base_url=f"{root}/v1", api_key=key, max_retries=0, check_embedding_ctx_length=False)
    vector(embedder.embed_query(task["embeddings"]["input"]))


play(
    {
        "chat": whole,
        "stream": stream,
        "tool loop": lambda: loop(lambda agent, given: agent.invoke(given)["messages"]),
        "tool loop, streamed": lambda: loop(streamed),
        "structured": structured,
        "embeddings": embeddings,
        "unknown model": lambda: refusal(
            lambda: chat(model=task["errors"]["unknownModel"]).invoke("x"), openai.BadRequestError, 400, task["errors"]["unknownModel"]
        ),
        "upstream 429": lambda: refusal(lambda: chat().invoke(task["errors"]["limited"]), openai.RateLimitError, 429),
        "upstream 500": lambda: refusal(lambda: chat().invoke(task["errors"]["broken"]), openai.InternalServerError, 502),
    }
)
