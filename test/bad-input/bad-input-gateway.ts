import { signInAs } from '../support/browser-session.ts'
import { at, sandboxProvider, startTestGateway, type TestGateway, toneWav } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'
import { asSchema, type Schema } from './schema-fields.ts'

/** One operation of the API description that takes a body, with a valid request for it. */
export interface Operation {
  id: string
  method: string
  path: string
  contentType: string
  schema: Schema
  valid: Record<string, unknown>
  /** Null where only a browser with a session may call it. */
  key: string | null
  /** What makes a browser's session count, and the session. */
  headers: Readonly<Record<string, string>>
}

/** A gateway whose providers answer at once, so that what is waited for is the gateway. */
export interface BadInputGateway {
  gateway: TestGateway
  components: Schema
  operations: Operation[]
  /** Query and header parameters: `METHOD path`, then their names. */
  parameters: { method: string; path: string; in: string; name: string; key: string | null }[]
  stop(): Promise<void>
}

/** What nothing valid can be made of without knowing what the operation is about. */
const validBodies: Readonly<Record<string, Record<string, unknown>>> = {
  createChatCompletion: { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] },
  createResponse: { model: 'openai/gpt-4o-mini', input: 'hi' },
  compactResponse: { model: 'openai/gpt-4o-mini', input: 'hi' },
  createMessage: {
    model: 'openai/gpt-4o-mini',
    max_tokens: 9,
    messages: [{ role: 'user', content: 'hi' }],
  },
  countTokens: { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] },
  createEmbeddings: { model: 'openai/text-embedding-3-small', input: 'x', dimensions: 4 },
  createCompletion: { model: 'openai/gpt-4o-mini', prompt: 'hi', max_tokens: 2 },
  createRerank: { model: 'cohere/rerank-v3.5', query: 'x', documents: ['y', { text: 'z' }], top_n: 1 },
  createTranscription: {
    model: 'acme/ear',
    input_audio: { data: Buffer.from(toneWav(0.05)).toString('base64'), format: 'wav' },
  },
  createSpeech: { model: 'acme/mouth', input: 'Hello.', voice: 'any' },
  createBatch: {
    endpoint: '/v1/chat/completions',
    model: 'openai/gpt-4o-mini',
    requests: [{ custom_id: 'a', body: { messages: [{ role: 'user', content: 'hi' }] } }],
  },
  createMessageBatch: {
    requests: [
      {
        custom_id: 'a',
        params: {
          model: 'openai/gpt-4o-mini',
          max_tokens: 9,
          messages: [{ role: 'user', content: 'hi' }],
        },
      },
    ],
  },
  createKey: { name: 'x' },
  updateKey: { disabled: false },
  rotateKey: { overlap_seconds: 60 },
  inviteMember: { email: 'bob@example.com', role: 'member' },
  updateMember: { role: 'viewer' },
  updateSession: { first_name: 'Ann' },
  setPassword: { password: 'a phrase of some length' },
  queryAnalytics: {
    metrics: ['usage'],
    time_range: { start: '2026-11-17T00:00:00Z', end: '2026-11-18T00:00:00Z' },
  },
  updateOrganizationSettings: { is_filtered_model_catalog_enabled: false },
}

/** Starts it and reads its description of itself. */
export async function startBadInputGateway(): Promise<BadInputGateway> {
  const upstream = startScriptedUpstream()
  upstream.answer(({ path }) =>
    path.endsWith('/transcriptions')
      ? Response.json({ text: 'heard', usage: { type: 'duration', seconds: 1 } })
      : new Response(new Uint8Array(4_800), { headers: { 'content-type': 'audio/pcm' } }),
  )
  const gateway = await startTestGateway({
    // Accepting is what is tested; running what was accepted would only slow it down.
    role: 'api',
    providers: (url) => [
      sandboxProvider(url),
      sandboxProvider(upstream.url, {
        preset: 'custom',
        id: 'acme',
        base_url: upstream.url,
        discover: false,
        models: [
          {
            id: 'acme/ear',
            upstream: 'ear',
            modality: 'transcription',
            prices: { audio_per_minute: '0.01' },
          },
          {
            id: 'acme/mouth',
            upstream: 'mouth',
            modality: 'speech',
            prices: { characters_per_million: '1' },
          },
        ],
      }),
    ],
  })
  const unhurried = await gateway.addOrganization({ batchesPerMinute: null })
  const idle = await gateway.addOrganization({})
  const { json } = await gateway.get('//openapi.json', { key: null })
  const browser = await signInAs(gateway, 'admin')
  const ofBrowser = { 'x-headrace-console': '1', 'sec-fetch-site': 'same-origin' }
  const { status, json: called } = await gateway.post(
    '/chat/completions',
    validBodies['createChatCompletion'],
    { key: unhurried.key },
  )
  if (status !== 200) throw new Error('a first call was not answered')
  /** What a valid request needs that only this gateway knows. */
  const knownBodies: typeof validBodies = {
    signIn: { management_key: unhurried.managementKey },
    submitGenerationFeedback: { generation_id: called['id'], category: 'latency' },
  }
  const credentialsOf = (path: string): Pick<Operation, 'key' | 'headers'> => {
    if (/^\/headrace\/session\b/.test(path))
      return { key: null, headers: { ...ofBrowser, cookie: browser.cookie() } }
    // An export is as long as its organization's log, and the trials are in that of the other.
    if (path.endsWith('/export')) return { key: idle.managementKey, headers: {} }
    const isManagement = /^\/(?:organization|keys|headrace|activity|analytics|generation\/feedback)/.test(
      path,
    )
    return { key: isManagement ? unhurried.managementKey : unhurried.key, headers: {} }
  }
  const newMember = async () => {
    const email = `${crypto.randomUUID()}@example.com`
    const made = await gateway.post(
      '/headrace/members',
      { email, role: 'member' },
      { key: unhurried.managementKey },
    )
    return String(at(made.json, 'data.id'))
  }
  const newHash = async () => {
    const made = await gateway.post('/keys', { name: 'x' }, { key: unhurried.managementKey })
    return String(at(made.json, 'data.hash'))
  }
  const operations: Operation[] = []
  const parameters: BadInputGateway['parameters'] = []
  for (const [path, methods] of Object.entries(asSchema(json['paths']))) {
    for (const [method, operation] of Object.entries(asSchema(methods))) {
      const described = asSchema(operation)
      const id = String(described['operationId'])
      const credentials = credentialsOf(path)
      const sent = { method: method.toUpperCase(), path, key: credentials.key }
      for (const parameter of (described['parameters'] ?? []) as Schema[])
        parameters.push({ ...sent, in: String(parameter['in']), name: String(parameter['name']) })
      const content = asSchema(asSchema(described['requestBody'])['content'])
      for (const [contentType, media] of Object.entries(content)) {
        const schema = asSchema(asSchema(media)['schema'])
        const hashed = path.replace('{hash}', await newHash())
        const named = path.startsWith('/headrace/members/')
          ? hashed.replace('{id}', await newMember())
          : hashed
        const valid = knownBodies[id] ?? validBodies[id] ?? {}
        operations.push({ ...sent, ...credentials, path: named, id, contentType, schema, valid })
      }
    }
  }
  return {
    gateway,
    components: asSchema(asSchema(json['components'])['schemas']),
    operations,
    parameters,
    async stop() {
      await gateway.stop()
      await upstream.stop()
    },
  }
}
