"""Batches of curator, unchanged: `curator-client.py ORIGIN KEY FOLDER`. Prints what it read from each."""

import json
import os
import sys

origin, key, folder = sys.argv[1:4]
os.environ.update(
    ANTHROPIC_API_KEY=key,
    OPENAI_API_KEY=key,
    CURATOR_CACHE_DIR=folder,
    CURATOR_VIEWER="0",
    TELEMETRY_ENABLED="false",
    LITELLM_LOCAL_MODEL_COST_MAP="True",
)

from bespokelabs import curator  # noqa: E402

ASKED = ["Say one", "Say two", "Say three"]


def curated(backend, model, base_url):
    llm = curator.LLM(
        model_name=model,
        backend=backend,
        batch=True,
        generation_params={"max_tokens": 20},
        backend_params={"base_url": base_url, "batch_check_interval": 1},
    )
    answered = llm(ASKED)
    texts = [row["response"] for row in getattr(answered, "dataset", answered)]
    return {"answers": len(texts), "own": all(asked in text for asked, text in zip(ASKED, texts))}


seen = {
    "curator, openai": curated("openai", "openai/gpt-4o-mini", f"{origin}/openai/v1"),
    "curator, anthropic": curated("anthropic", "anthropic/claude-haiku-4-5", origin),
}
print()
print(json.dumps(seen))
