"""Batches of both official clients, unchanged: `dialects-client.py ORIGIN KEY MODEL`. Prints what each of them saw."""

import io
import json
import sys
import time

import anthropic
import openai

origin, key, model = sys.argv[1:4]
said = [{"role": "user", "content": "Say hello"}]


def until(read, is_over):
    for _ in range(600):
        found = read()
        if is_over(found):
            return found
        time.sleep(0.1)
    raise SystemExit("the batch did not end")


def of_anthropic():
    client = anthropic.Anthropic(base_url=origin, api_key=key, max_retries=0)
    batches = client.messages.batches
    params = {"model": model, "max_tokens": 50, "messages": said}
    made = batches.create(requests=[{"custom_id": "a", "params": params}, {"custom_id": "b", "params": params}])
    ended = until(lambda: batches.retrieve(made.id), lambda batch: batch.processing_status == "ended")
    types = [(line.custom_id, line.result.type, line.result.message.role) for line in batches.results(made.id)]
    other = batches.create(requests=[{"custom_id": f"c{place}", "params": params} for place in range(2000)])
    cancelled = batches.cancel(other.id).processing_status
    until(lambda: batches.retrieve(other.id), lambda batch: batch.processing_status == "ended")
    listed = [batch.id for batch in batches.list(limit=1)]
    deleted = batches.delete(made.id).type
    return {
        "counts": ended.request_counts.to_dict(),
        "results": types,
        "cancel": cancelled,
        "listed": listed == [other.id, made.id],
        "deleted": deleted,
    }


def of_openai():
    client = openai.OpenAI(base_url=f"{origin}/openai/v1", api_key=key, max_retries=0)
    url = "/v1/chat/completions"
    line = {"method": "POST", "url": url, "body": {"model": model, "messages": said}}
    text = "\n".join(json.dumps({"custom_id": name, **line}) for name in ["a", "b"])
    file = client.files.create(file=("in.jsonl", io.BytesIO(text.encode())), purpose="batch")
    made = client.batches.create(input_file_id=file.id, endpoint=url, completion_window="24h", metadata={"job": "x"})
    ended = until(lambda: client.batches.retrieve(made.id), lambda batch: batch.status == "completed")
    lines = [json.loads(one) for one in client.files.content(ended.output_file_id).text.splitlines()]
    many = "\n".join(json.dumps({"custom_id": f"c{place}", **line}) for place in range(2000))
    large = client.files.create(file=("large.jsonl", io.BytesIO(many.encode())), purpose="batch")
    other = client.batches.create(input_file_id=large.id, endpoint=url, completion_window="24h")
    cancelled = client.batches.cancel(other.id).status
    return {
        "counts": ended.request_counts.to_dict(),
        "metadata": ended.metadata,
        "results": [(one["custom_id"], one["response"]["status_code"]) for one in lines],
        "cancel": cancelled,
        "listed": [batch.id for batch in client.batches.list(limit=1)][0] == other.id,
        "deleted": client.files.delete(file.id).deleted,
    }


print(json.dumps({"anthropic": of_anthropic(), "openai": of_openai()}))
