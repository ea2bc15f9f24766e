import { spokenSentence, type TryModels } from './try-models.ts'

/** Languages that `headrace try --print` writes. */
export type CodeLanguage = 'curl' | 'python' | 'ts'

interface Names {
  baseUrl: string
  chat: string
  speech: string
  voice: string
  transcription: string
}

/** Used when the gateway cannot be reached. */
const usualNames = { chat: 'openai/gpt-4o-mini', speech: 'openai/tts-1', transcription: 'openai/whisper-1' }

/** The operations as code that runs unchanged; keys come from the environment. */
export function renderCode(
  language: CodeLanguage,
  given: { baseUrl: string; models: TryModels | null },
): string {
  const names: Names = {
    baseUrl: given.baseUrl,
    chat: given.models?.chat?.id ?? usualNames.chat,
    speech: given.models?.speech?.id ?? usualNames.speech,
    voice: given.models?.speech?.voices[0] ?? 'alloy',
    transcription: given.models?.transcription?.id ?? usualNames.transcription,
  }
  return renderers[language](names)
}

const renderers: Readonly<Record<CodeLanguage, (names: Names) => string>> = {
  curl: ({ baseUrl, chat, speech, voice, transcription }) => `#!/bin/sh
# Needs HEADRACE_API_KEY and, for the settings, HEADRACE_MANAGEMENT_KEY: npx headrace keys create [--management]
set -eu

# Chat, streamed
curl -sSN ${baseUrl}/chat/completions \\
  -H "Authorization: Bearer $HEADRACE_API_KEY" -H "Content-Type: application/json" \\
  -d '{"model":"${chat}","stream":true,"messages":[{"role":"user","content":"What does a headrace do?"}]}'

# Text to speech, and what was spoken as text again; with "| tee speech.wav" between them it can be listened to
curl -sS --fail-with-body ${baseUrl}/audio/speech \\
  -H "Authorization: Bearer $HEADRACE_API_KEY" -H "Content-Type: application/json" -H "Accept: audio/wav" \\
  -d '{"model":"${speech}","voice":"${voice}","input":"${spokenSentence}"}' |
  curl -sS -w '\\n' ${baseUrl}/audio/transcriptions \\
    -H "Authorization: Bearer $HEADRACE_API_KEY" \\
    -F model=${transcription} -F 'file=@-;filename=speech.wav'

# Organization settings
curl -sS -w '\\n' -X PATCH ${baseUrl}/organization/settings \\
  -H "Authorization: Bearer $HEADRACE_MANAGEMENT_KEY" -H "Content-Type: application/json" \\
  -d '{"is_filtered_model_catalog_enabled":false}'

# A batch: accepted with 202, then asked about until it has ended; its results are lines of JSON
created=$(curl -sS --fail-with-body ${baseUrl}/batches \\
  -H "Authorization: Bearer $HEADRACE_API_KEY" -H "Content-Type: application/json" \\
  -d '{"endpoint":"/v1/chat/completions","model":"${chat}","requests":[
        {"custom_id":"one","body":{"messages":[{"role":"user","content":"Say one."}]}},
        {"custom_id":"two","body":{"messages":[{"role":"user","content":"Say two."}]}}]}')
printf '%s\\n' "$created"
id=$(printf '%s' "$created" | sed 's/.*"id":"\\(batch_[^"]*\\)".*/\\1/')
until curl -sS ${baseUrl}/batches/"$id" -H "Authorization: Bearer $HEADRACE_API_KEY" |
  grep -qE '"status":"(completed|failed|expired|cancelled)"'; do sleep 1; done
curl -sS ${baseUrl}/batches/"$id"/results -H "Authorization: Bearer $HEADRACE_API_KEY"
`,
  python: ({ baseUrl, chat, speech, voice, transcription }) => `# Needs: pip install openai
# and HEADRACE_API_KEY, for the settings HEADRACE_MANAGEMENT_KEY: npx headrace keys create [--management]
import json, os, time, urllib.request
from openai import OpenAI

base_url = "${baseUrl}"
client = OpenAI(base_url=base_url, api_key=os.environ["HEADRACE_API_KEY"])

# Chat, streamed
messages = [{"role": "user", "content": "What does a headrace do?"}]
for chunk in client.chat.completions.create(model="${chat}", messages=messages, stream=True):
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)
print()

# Text to speech
speech = client.audio.speech.create(
    model="${speech}", voice="${voice}", input="${spokenSentence}", extra_headers={"Accept": "audio/wav"})

# Speech to text
print(client.audio.transcriptions.create(model="${transcription}", file=("speech.wav", speech.read())).text)


def call(method, path, key, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {os.environ[key]}", "Content-Type": "application/json"}
    request = urllib.request.Request(base_url + path, data=data, headers=headers, method=method)
    with urllib.request.urlopen(request) as response:
        return json.load(response)


# Organization settings
print(call("PATCH", "/organization/settings", "HEADRACE_MANAGEMENT_KEY", {"is_filtered_model_catalog_enabled": False}))

# A batch
requests = [
    {"custom_id": word, "body": {"messages": [{"role": "user", "content": f"Say {word}."}]}} for word in ("one", "two")]
batch = call("POST", "/batches", "HEADRACE_API_KEY", {
    "endpoint": "/v1/chat/completions", "model": "${chat}", "requests": requests})
while batch["status"] not in ("completed", "failed", "expired", "cancelled"):
    time.sleep(1)
    batch = call("GET", "/batches/" + batch["id"], "HEADRACE_API_KEY")
for result in batch["results"] or []:
    answer = result["response"] and result["response"]["body"]["choices"][0]["message"]["content"]
    print(result["custom_id"], answer or result["error"])
`,
  ts: ({ baseUrl, chat, speech, voice, transcription }) => `// Needs: npm install openai
// and HEADRACE_API_KEY, for the settings HEADRACE_MANAGEMENT_KEY: npx headrace keys create [--management]
import OpenAI, { toFile } from 'openai'

const baseURL = '${baseUrl}'
const client = new OpenAI({ baseURL, apiKey: process.env.HEADRACE_API_KEY })

// Chat, streamed
const stream = await client.chat.completions.create({
  model: '${chat}',
  stream: true,
  messages: [{ role: 'user', content: 'What does a headrace do?' }],
})
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta.content ?? '')

// Text to speech
const spoken = { model: '${speech}', voice: '${voice}', input: '${spokenSentence}' }
const speech = await client.audio.speech.create(spoken, { headers: { Accept: 'audio/wav' } })

// Speech to text
const file = await toFile(speech, 'speech.wav')
const heard = await client.audio.transcriptions.create({ model: '${transcription}', file })
console.log('\\n' + heard.text)

async function call(method: string, path: string, key: string | undefined, body?: unknown): Promise<any> {
  const headers = { Authorization: \`Bearer \${key}\`, 'Content-Type': 'application/json' }
  const response = await fetch(baseURL + path, { method, headers, body: body ? JSON.stringify(body) : null })
  return response.json()
}

// Organization settings
const settings = { is_filtered_model_catalog_enabled: false }
console.log(await call('PATCH', '/organization/settings', process.env.HEADRACE_MANAGEMENT_KEY, settings))

// A batch
let batch = await call('POST', '/batches', process.env.HEADRACE_API_KEY, {
  endpoint: '/v1/chat/completions',
  model: '${chat}',
  requests: ['one', 'two'].map((word) => ({
    custom_id: word,
    body: { messages: [{ role: 'user', content: \`Say \${word}.\` }] },
  })),
})
while (!['completed', 'failed', 'expired', 'cancelled'].includes(batch.status)) {
  await new Promise((resolve) => setTimeout(resolve, 1000))
  batch = await call('GET', \`/batches/\${batch.id}\`, process.env.HEADRACE_API_KEY)
}
for (const result of batch.results ?? []) console.log(result.custom_id, result.response?.body.choices[0].message.content)
`,
}
