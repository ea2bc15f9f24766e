from zai import ZaiClient

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def user(text):
    return {"role": "user", "content": text}


def chat(max_tokens=100, **more):
    def ask(at):
        client = ZaiClient(api_key=at.key, base_url=at.url + "/api/paas/v4", max_retries=0)
        client.chat.completions.create(model="glm-5.2", max_tokens=max_tokens, **more)

    return ask


WEATHER = {"name": "weather", "description": "Weather of a city", "parameters": CITY}

intentions = {
    "plain": chat(messages=[user("Say hello")]),
    "tuned": chat(
        messages=[{"role": "system", "content": "Be brief."}, user("Say hello")],
        temperature=0.5,
        stop=["END"],
        seed=7,
    ),
    "effort": chat(max_tokens=2000, messages=[user("Think")], reasoning_effort="low"),
    "no-thought": chat(max_tokens=2000, messages=[user("Do not think")], thinking={"type": "disabled"}),
}
