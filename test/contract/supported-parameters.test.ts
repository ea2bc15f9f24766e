import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { ProviderConfig } from '../../src/config-file.ts'
import { presets } from '../../src/providers/registry.ts'
import { at, startTestGateway, type TestGateway } from '../support/gateway.ts'
import { startScriptedUpstream, type ScriptedUpstream } from '../support/scripted-upstream.ts'

// Contract 6.1, 6.2 and 5.4: `supported_parameters` of a model says what `require_parameters` lets pass, whichever provider
// and format is behind it.

const tools = [
  { type: 'function', function: { name: 'find', parameters: { type: 'object', properties: {} } } },
]
const place = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const schema = { name: 'place', strict: true, schema: { ...place, additionalProperties: false } }

/** Every parameter that the contract names, with a call that sets it. */
const asked: Readonly<Record<string, object>> = {
  temperature: { temperature: 0.7 },
  top_p: { top_p: 0.9 },
  top_k: { top_k: 20 },
  min_p: { min_p: 0.05 },
  top_a: { top_a: 0.2 },
  frequency_penalty: { frequency_penalty: 0.3 },
  presence_penalty: { presence_penalty: 0.3 },
  repetition_penalty: { repetition_penalty: 1.2 },
  max_tokens: { max_tokens: 5000 },
  max_completion_tokens: { max_completion_tokens: 5000 },
  logit_bias: { logit_bias: { '100': -5 } },
  logprobs: { logprobs: true },
  top_logprobs: { logprobs: true, top_logprobs: 3 },
  prediction: { prediction: { type: 'content', content: 'The sky' } },
  seed: { seed: 42 },
  structured_outputs: { response_format: { type: 'json_schema', json_schema: schema } },
  stop: { stop: ['\n\n'] },
  tools: { tools },
  tool_choice: { tools, tool_choice: { type: 'function', function: { name: 'find' } } },
  parallel_tool_calls: { tools, parallel_tool_calls: false },
  include_reasoning: { include_reasoning: true },
  reasoning: { reasoning: { effort: 'high' } },
  reasoning_effort: { reasoning_effort: 'low' },
  web_search_options: { web_search_options: { search_context_size: 'low' } },
  verbosity: { verbosity: 'high' },
}

/** Providers whose models have no default prices, so that only their listing tells them. */
const unpriced: Readonly<Record<string, true>> = {
  custom: true,
  deepinfra: true,
  perplexity: true,
  sambanova: true,
}

let upstream: ScriptedUpstream
let gateway: TestGateway
beforeAll(async () => {
  upstream = startScriptedUpstream()
  // No provider has to answer, because only the choice of providers matters.
  upstream.answer(() =>
    Response.json({ error: { message: 'No.', type: 'invalid_request_error' } }, { status: 400 }),
  )
  gateway = await startTestGateway({
    providers: () =>
      presets.map(({ slug, isLocal, onlyListed, baseUrlEndings }): ProviderConfig => ({
        preset: slug,
        id: slug,
        base_url: `${upstream.url}/${slug}${baseUrlEndings[0] ?? '/v1'}`,
        api_key: 'any',
        weight: 1,
        discover: false,
        models:
          isLocal || onlyListed || Object.hasOwn(unpriced, slug)
            ? [
                { id: `${slug}/gpt-oss-20b`, upstream: 'gpt-oss-20b' },
                { id: `${slug}/plain`, upstream: 'plain' },
              ]
            : [],
      })),
  })
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

interface Shown {
  id: string
  supported_parameters: string[]
}

async function listed(query: string): Promise<Shown[]> {
  const { status, json } = await gateway.get(`/models?${query}`)
  expect(status).toBe(200)
  return (json['data'] as Shown[]).filter(({ id }) => !id.endsWith(':batch'))
}

interface ShownEndpoint extends Shown {
  tag: string
  supports_tool_choice: Record<string, boolean>
}

async function endpointsOf(id: string): Promise<ShownEndpoint[]> {
  return at((await gateway.get(`/models/${id}/endpoints`)).json, 'data.endpoints') as ShownEndpoint[]
}

/** Of each provider a model of every kind: those of one kind have the same parameters. */
async function kinds(): Promise<{ id: string; tag: string; parameters: string[] }[]> {
  const found = new Map<string, { id: string; tag: string; parameters: string[] }>()
  for (const { id } of await listed('')) {
    for (const { tag, supported_parameters: parameters } of await endpointsOf(id)) {
      const key = JSON.stringify([tag, parameters])
      if (!found.has(key)) found.set(key, { id, tag, parameters })
    }
  }
  return [...found.values()]
}

test('listed parameters pass the requirement, and unlisted ones do not', async () => {
  const all = await kinds()
  const withText = presets.filter(({ adapters }) => adapters.language).map(({ slug }) => slug)
  expect([...new Set(all.map(({ tag }) => tag))].toSorted()).toEqual(withText.toSorted())
  const wrong: string[] = []
  for (const { id, tag, parameters } of all) {
    for (const [name, body] of Object.entries(asked)) {
      const before = upstream.seen.length
      const { status, json } = await gateway.post('/chat/completions', {
        model: id,
        messages: [{ role: 'user', content: 'Why is the sky blue?' }],
        provider: { only: [tag], require_parameters: true },
        ...body,
      })
      const isAsked = upstream.seen.length > before
      const isRefused = status === 404 && at(json, 'error.availability.excluded_by') === 'require_parameters'
      if (isAsked !== parameters.includes(name) || isRefused === isAsked)
        wrong.push(`${tag} ${id} ${name}: ${parameters.includes(name) ? 'listed' : 'not listed'}, ${status}`)
    }
  }
  expect(wrong).toEqual([])
}, 60_000)

test('models are found by the parameters that they honour', async () => {
  const claude = await listed('model_authors=anthropic')
  expect(claude.length).toBeGreaterThan(0)
  expect(await listed('model_authors=anthropic&providers=anthropic&supported_parameters=logit_bias')).toEqual(
    [],
  )
  for (const name of [
    'reasoning',
    'include_reasoning',
    'top_k',
    'parallel_tool_calls',
    'verbosity',
    'min_p',
    'repetition_penalty',
  ]) {
    const found = await listed(`supported_parameters=${name}`)
    expect([name, found.length > 0]).toEqual([name, true])
  }
})

test('a model that does not think has no parameter of thinking', async () => {
  const thinking = async (id: string) =>
    (await endpointsOf(id))[0]?.supported_parameters.filter((name) => name.includes('reasoning'))
  expect(await thinking('openai/gpt-4o')).toEqual([])
  expect(await thinking('openai/gpt-5')).toContain('reasoning')
  expect(await thinking('anthropic/claude-opus-5')).toContain('reasoning')
})

test('an endpoint that chooses its tools by itself says so', async () => {
  for (const [id, tag] of [
    ['ollama/gpt-oss-20b', 'ollama'],
    ['z-ai/GLM-5.2', 'zai'],
  ] as const) {
    const endpoint = (await endpointsOf(id)).find((one) => one.tag === tag)
    expect([id, endpoint?.supports_tool_choice]).toEqual([
      id,
      { auto: true, function: false, none: false, required: false },
    ])
  }
})

test('a choice of tools that asks for nothing requires nothing', async () => {
  const before = upstream.seen.length
  await gateway.post('/chat/completions', {
    model: 'ollama/gpt-oss-20b',
    messages: [{ role: 'user', content: 'Find it.' }],
    provider: { require_parameters: true },
    tools,
    tool_choice: 'auto',
  })
  expect(upstream.seen.length).toBe(before + 1)
})
