"""
LangChain's batch helpers, unchanged: `langchain-client.py ORIGIN KEY FOLDER`. Prints what each of them saw. Neither package
speaks a batch API: `batch` and `batch_as_completed` make live calls, some at a time.
"""

import json
import os
import sys

origin, key = sys.argv[1:3]
os.environ["LANGSMITH_TRACING"] = "false"

from langchain_anthropic import ChatAnthropic  # noqa: E402
from langchain_openai import ChatOpenAI  # noqa: E402

ASKED = ["Say one", "Say two", "Say three"]


def batched(chat):
    whole = [answer.content for answer in chat.batch(ASKED, config={"max_concurrency": 2})]
    completed = {place: answer.content for place, answer in chat.batch_as_completed(ASKED)}
    texts = [*whole, *[completed[place] for place in range(len(ASKED))]]
    return {"answers": len(texts), "own": all(asked in text for asked, text in zip([*ASKED, *ASKED], texts))}


seen = {
    "langchain-openai": batched(
        ChatOpenAI(model="openai/gpt-4o-mini", base_url=f"{origin}/v1", api_key=key, max_tokens=20)
    ),
    "langchain-anthropic": batched(
        ChatAnthropic(model="anthropic/claude-haiku-4-5", base_url=origin, api_key=key, max_tokens=20)
    ),
}
print(json.dumps(seen))
