from fireworks import Fireworks

MODEL = "accounts/fireworks/models/gpt-oss-120b"
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def user(text):
    return {"role": "user", "content": text}


def chat(model=MODEL, max_tokens=100, **more):
    def ask(at):
        client = Fireworks(api_key=at.key, base_url=at.url + "/inference", max_retries=0, account_id="fireworks")
        client.chat.completions.create(model=model, max_tokens=max_tokens, **more)

    return ask


TOOLS = [
    user("How is the weather in Oslo?"),
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Oslo"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "call_1", "content": "Rain"},
    user("And tomorrow?"),
]
WEATHER = {"name": "weather", "description": "Weather of a city", "parameters": CITY}
SCHEMA = {"name": "city", "strict": True, "schema": {**CITY, "additionalProperties": False}}

intentions = {
    "plain": chat(messages=[user("Say hello")]),
    "tuned": chat(
        messages=[{"role": "system", "content": "Be brief."}, user("Say hello")],
        temperature=0.5,
        stop=["END"],
        seed=7,
    ),
    "tools": chat(messages=TOOLS, tools=[{"type": "function", "function": WEATHER}], tool_choice="required"),
    "schema": chat(
        messages=[user("Name a city")], response_format={"type": "json_schema", "json_schema": SCHEMA}
    ),
    "effort": chat(max_tokens=2000, messages=[user("Think")], reasoning_effort="low"),
    "no-thought": chat(
        model="accounts/fireworks/models/glm-5",
        max_tokens=2000,
        messages=[user("Do not think")],
        reasoning_effort="none",
    ),
}
