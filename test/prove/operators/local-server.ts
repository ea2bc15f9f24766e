import { prepareGateway } from '../../story/real-gateway.ts'
import { startScriptedUpstream, type UpstreamSeen } from '../../support/scripted-upstream.ts'
import { observation, type Check } from '../observations.ts'

const key = 'inference-key-of-the-proof'
/** A name that looks like a key. */
const long = 'qwen2-5-coder-32b-instruct-q4_k_m'
/** What each model of the Ollama server can do, which no name tells. */
const capabilities: Readonly<Record<string, readonly string[]>> = {
  'tiny:latest': ['completion'],
  'stringer:latest': ['embedding'],
  [long]: ['completion'],
}

export const proof = observation({
  title: 'a local server is asked what its models are, and its names and address are taken as it has them',
  async observe(): Promise<Check[]> {
    const ollama = await startScriptedUpstream()
    const llamacpp = await startScriptedUpstream()
    ollama.answer(answerAsOllama)
    llamacpp.answer(answerAsLlamaCpp)
    try {
      const versioned = { OLLAMA_BASE_URL: `${ollama.url}/v1`, LLAMACPP_BASE_URL: `${llamacpp.url}/v1` }
      return [...(await observeModels(versioned)), await observeAddress(ollama.url)]
    } finally {
      await Promise.all([ollama.stop(), llamacpp.stop()])
    }
  },
})

async function observeModels(env: Record<string, string>): Promise<Check[]> {
  const gateway = prepareGateway(null)
  try {
    await gateway.start({ HEADRACE_BOOTSTRAP_KEY: key, ...env })
    await untilListed(gateway.baseUrl, 4)
    const embed = (model: string) => post(gateway.baseUrl, '/embeddings', { model, input: 'hi' })
    const chat = (model: string) =>
      post(gateway.baseUrl, '/chat/completions', { model, messages: [{ role: 'user', content: 'hi' }] })
    const stringer = await embed('ollama/stringer:latest')
    const weights = await embed('llamacpp/weights.gguf')
    const tiny = await chat('ollama/tiny')
    const wrong = await embed('ollama/tiny:latest')
    const named = await chat(`ollama/${long}`)
    return [
      check('an embedding model of Ollama that only /api/show tells', stringer, (text) =>
        text.startsWith('200'),
      ),
      check('an embedding model of llama.cpp that only a probe tells', weights, (text) =>
        text.startsWith('200'),
      ),
      check('ollama/tiny finds tiny:latest', tiny, (text) => text.startsWith('200')),
      check('a refusal of the wrong kind names the line that sets it', wrong, (text) =>
        text.includes('"modality" of the entry with "id": "ollama/tiny:latest"'),
      ),
      check('the name of a model in the words of its provider', named, (text) => text.includes(`"${long}`)),
    ]
  } finally {
    await gateway.remove()
  }
}

async function observeAddress(url: string): Promise<Check> {
  const gateway = prepareGateway(null)
  try {
    await gateway.start({ HEADRACE_BOOTSTRAP_KEY: key, OLLAMA_BASE_URL: url })
    const count = await untilListed(gateway.baseUrl, 3)
    return { name: 'OLLAMA_BASE_URL without /v1', held: count >= 3, seen: `${count} models` }
  } finally {
    await gateway.remove()
  }
}

function check(name: string, seen: string, isIt: (text: string) => boolean): Check {
  return { name, held: isIt(seen), seen: seen.slice(0, 300) }
}

async function post(baseUrl: string, path: string, body: unknown): Promise<string> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await fetch(baseUrl + path, { method: 'POST', headers, body: JSON.stringify(body) })
  const { error } = (await response.json()) as { error?: { message: string } }
  return `${response.status} ${error?.message ?? ''}`.trim()
}

/** Listings are read in the background; a gateway that never reads them is waited for no longer than this. */
const listedMsMax = 5_000

async function untilListed(baseUrl: string, wanted: number): Promise<number> {
  const endMs = performance.now() + listedMsMax
  for (;;) {
    const response = await fetch(`${baseUrl}/models?output_modalities=all`)
    const { data } = (await response.json()) as { data: { id: string }[] }
    const count = data.filter(({ id }) => !id.endsWith(':batch')).length
    if (count >= wanted || performance.now() > endMs) return count
    await Bun.sleep(50)
  }
}

function listOf(ids: readonly string[]): Response {
  return Response.json({ object: 'list', data: ids.map((id) => ({ id, object: 'model', created: 1 })) })
}

function answerAsOllama({ path, body }: UpstreamSeen): Response {
  if (path === '/v1/models') return listOf(Object.keys(capabilities))
  const { model } = (body === '' ? {} : JSON.parse(body)) as { model?: string }
  if (path === '/api/show') return Response.json({ capabilities: capabilities[model ?? ''], details: {} })
  if (path === '/v1/embeddings') return Response.json(embeddings)
  if (path !== '/v1/chat/completions') return new Response('404 page not found', { status: 404 })
  if (model !== long) return Response.json(completionOf(model))
  const message = `invalid options for model "${model}"`
  return Response.json(
    { error: { message, type: 'invalid_request_error', param: null, code: null } },
    { status: 400 },
  )
}

/** Started for embeddings: it refuses chats. */
function answerAsLlamaCpp({ path }: UpstreamSeen): Response {
  if (path === '/v1/models') return listOf(['weights.gguf'])
  if (path === '/v1/embeddings') return Response.json(embeddings)
  const error = { code: 501, message: 'This server does not support chat.', type: 'not_supported_error' }
  return Response.json({ error }, { status: 501 })
}

const embeddings = {
  object: 'list',
  data: [{ object: 'embedding', index: 0, embedding: [0.5, 0.25] }],
  model: 'm',
  usage: { prompt_tokens: 1, total_tokens: 1 },
}

function completionOf(model: string | undefined) {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  }
}
