import { startSimulator } from '../../simulator/server.ts'
import { prepareGateway } from '../story/real-gateway.ts'

/** The model behind Anthropic's messages, for callers of the other two formats. */
export const messagesModel = 'anthropic/claude-opus-5'
/** The model behind chat completions, at a host as strict as OpenAI. */
export const chatModel = 'openai/gpt-4o-mini'
/** The same host's model that thinks. */
export const thinkingChatModel = 'openai/o4-mini'
/** What turns texts into vectors, at the same host. */
export const embeddingModel = 'openai/text-embedding-3-small'
/** A model that only responses reach. */
export const responsesModel = 'openai/gpt-5.1-codex'
/** A model that thinks, and that callers of messages reach by responses. */
export const thinkingResponsesModel = 'openai/gpt-5.4'
/** Google's, behind its own format. */
export const geminiModel = 'google/gemini-2.5-pro'
/** A newer one, which refuses a call that comes back without its signature. */
export const newestGeminiModel = 'google/gemini-3-pro-preview'
/** A model behind a server of somebody's own, which takes what it does not know. */
export const customModel = 'acme/coder'

/** Claude at Amazon in its own format, and by Converse. */
export const invokedModel = 'anthropic/claude-opus-4.7'
export const conversingModel = 'anthropic/claude-sonnet-4.5'
/** Amazon's own, which only Converse reaches. */
export const novaModel = 'amazon/nova-2-lite-v1'
/** Google's models in a project of the operator's own, and Claude there. */
export const projectGeminiModel = 'google/gemini-2.5-flash'
export const projectClaudeModel = 'anthropic/claude-opus-4.8'

/** Which simulated provider a model stands for. */
export type Mount =
  | 'messages'
  | 'responses'
  | 'gemini'
  | 'chat'
  | 'custom'
  | 'bedrock'
  | 'converse'
  | 'vertex'
  | 'vertex-claude'

/** What each of them is to be asked, by its path. */
export const pathOf: Readonly<Record<Mount, RegExp>> = {
  messages: /^\/v1\/messages$/,
  responses: /^\/v1\/responses$/,
  gemini: /^\/v1beta\/models\/[^/]+:(?:streamG|g)enerateContent$/,
  chat: /^\/v1\/chat\/completions$/,
  custom: /^\/v1\/chat\/completions$/,
  bedrock: /^\/model\/[^/]+\/invoke-with-response-stream$/,
  converse: /^\/model\/[^/]+\/converse-stream$/,
  vertex:
    /^\/v1beta1\/projects\/p-1\/locations\/global\/publishers\/google\/models\/[^/]+:streamGenerateContent$/,
  'vertex-claude':
    /^\/v1beta1\/projects\/p-1\/locations\/global\/publishers\/anthropic\/models\/[^/]+:streamRawPredict$/,
}
const mounts = Object.keys(pathOf) as Mount[]

/** One request as a simulated provider received it. */
export interface Received {
  path: string
  headers: Record<string, string>
  /** The whole body, parsed. */
  body: Record<string, unknown>
  outcome: unknown
}

/** What the ledger and the accounts say after everything has ended. */
export interface Books {
  /** The ledger's rows of the calls that were logged. */
  generations: Record<string, unknown>[]
  /** Of the prepaid balance. */
  spentCredits: number
  /** Holds of running calls; 0 when none runs. */
  liveHolds: number
}

/** The running gateway, in a process of its own, in front of simulated providers of both formats. */
export interface ClientsWorld {
  /** Without `/v1`. */
  readonly root: string
  readonly key: string
  /** What the gateway logged for each request, in order. */
  requestLines(): Promise<Record<string, unknown>[]>
  received(mount: Mount): Promise<Received[]>
  /** The model of this provider says these turns to whoever asks with their marker; the provider makes these faults. */
  set(mount: Mount, given: { scripts: readonly unknown[]; faults?: readonly unknown[] }): Promise<void>
  /** Which turns of its first script were said, from 0. */
  played(mount: Mount): Promise<unknown>
  /** Forgets what the provider was asked. */
  forget(mount: Mount): Promise<void>
  books(): Promise<Books>
  /** Kills the gateway and starts it again with the same data. */
  restart(): Promise<void>
  /** Everything that the gateway has logged. */
  printed(): string
  /** Its database. */
  readonly databasePath: string
  stop(): Promise<void>
}

const key = 'proof-clients-key-of-forty-characters-0001'
const managementKey = 'proof-management-key-of-forty-characters-1'
const grantedCredits = 1_000
/** The whole of a conversation of twenty turns. */
const recordedBodyBytes = 4_194_304

/** Starts the simulator and the gateway, by default of this version; `stop` ends and removes both. */
export async function startClientsWorld(): Promise<ClientsWorld> {
  const simulator = await startSimulator({ port: 0, quiet: true, seed: 11 })
  const admin = async (path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const response = await fetch(`${simulator.url}/admin/${path}`, init)
    const answer = (await response.json()) as Record<string, unknown>
    if (!response.ok) throw new Error(`simulator, ${path}: ${JSON.stringify(answer)}`)
    return answer
  }
  const gateway = prepareGateway({ providers: providersOf(simulator.url) })
  const start = () =>
    gateway.start({
      HEADRACE_BOOTSTRAP_KEY: key,
      HEADRACE_BOOTSTRAP_MANAGEMENT_KEY: managementKey,
      HEADRACE_BOOTSTRAP_CREDITS: String(grantedCredits),
      HEADRACE_LOG_LEVEL: 'info',
    })
  await start()
  let printedBefore = ''
  const printed = (): string => printedBefore + gateway.printed()
  const prepare = async (mount: Mount): Promise<void> => {
    const isOwn = mount === 'custom'
    await admin('settings', {
      mount,
      recorded_body_bytes: recordedBodyBytes,
      ...(isOwn ? { any_model: true, strict: false } : {}),
    })
  }
  for (const mount of mounts) await prepare(mount)
  const address = gateway.baseUrl.replace(/\/v1$/, '')
  const get = async (path: string, secret = key): Promise<Record<string, unknown>> => {
    const headers = { authorization: `Bearer ${secret}` }
    return (await (await fetch(`${gateway.baseUrl}${path}`, { headers })).json()) as Record<string, unknown>
  }
  const requestLines = async () => {
    // The log is written in groups.
    await Bun.sleep(500)
    const lines = printed().split('\n')
    const parsed = lines.flatMap((line) => (line.startsWith('{') ? [JSON.parse(line)] : []))
    return (parsed as Record<string, unknown>[]).filter(({ operation }) => typeof operation === 'string')
  }
  return {
    root: address,
    key,
    requestLines,
    async received(mount) {
      const { last_requests: requests } = await admin(`counters?mount=${mount}`)
      return (requests as { path: string; headers: Record<string, string>; body: string; outcome: unknown }[])
        .filter(({ body }) => body.startsWith('{'))
        .map((request) => ({ ...request, body: JSON.parse(request.body) }))
    },
    async set(mount, { scripts, faults = [] }) {
      await admin('scripts', { mount, scripts })
      await admin('faults', { mount, rules: faults })
    },
    async played(mount) {
      const { scripts } = await admin(`scripts?mount=${mount}`)
      return (scripts as { played: unknown }[])[0]?.played
    },
    async forget(mount) {
      await admin('reset', { mount })
      await prepare(mount)
    },
    async books() {
      const ids = (await requestLines()).flatMap(({ generation_id: id }) =>
        typeof id === 'string' ? [id] : [],
      )
      const generations: Record<string, unknown>[] = []
      for (const id of ids) {
        const { data } = (await get(`/generation?id=${id}`)) as { data?: Record<string, unknown> }
        if (data !== undefined) generations.push(data)
      }
      const { data } = (await get('/credits', managementKey)) as { data: { total_usage: number } }
      const metrics = await (await fetch(`${address}/metrics`)).text()
      return { generations, spentCredits: data.total_usage, liveHolds: gaugeIn(metrics, holdsGauge) }
    },
    async restart() {
      await gateway.end('SIGKILL')
      printedBefore = printed()
      await start()
    },
    printed,
    databasePath: gateway.databasePath,
    async stop() {
      await gateway.remove()
      await simulator.stop()
    },
  }
}

const holdsGauge = 'headrace_holds_live'

/** Sum of a metric's lines. */
function gaugeIn(metrics: string, name: string): number {
  const lines = metrics
    .split('\n')
    .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
  if (lines.length === 0) throw new Error(`there is no metric ${name}`)
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
}

function providersOf(url: string): Record<string, unknown>[] {
  const prices = { input_per_million: '1', output_per_million: '2' }
  return [
    {
      preset: 'anthropic',
      base_url: `${url}/p/messages/v1`,
      api_key: 'simulated',
      // The other models stay with the clouds.
      only_models: true,
      models: [{ id: messagesModel }],
    },
    {
      // As OpenAI answers chat completions, and nothing else; its newer models stay with the host below.
      preset: 'sandbox',
      base_url: `${url}/p/chat/v1`,
      api_key: 'simulated',
      only_models: true,
      models: [{ id: chatModel }, { id: thinkingChatModel }, { id: embeddingModel }],
    },
    {
      preset: 'openai',
      id: 'openai-responses',
      base_url: `${url}/p/responses/v1`,
      api_key: 'simulated',
      // The other models stay with the host above.
      only_models: true,
      models: [{ id: responsesModel }, { id: thinkingResponsesModel }],
    },
    {
      preset: 'google-ai-studio',
      base_url: `${url}/p/gemini/v1beta`,
      api_key: 'simulated',
      only_models: true,
      models: [{ id: geminiModel }, { id: newestGeminiModel }],
    },
    {
      preset: 'custom',
      id: 'acme',
      base_url: `${url}/p/custom/v1`,
      api_key: 'simulated',
      discover: false,
      cache_marks: true,
      models: [{ id: customModel, prices, context_length: 200_000 }],
    },
    ...cloudsOf(url),
  ]
}

/** The clouds, each with a login of its own. */
function cloudsOf(url: string): Record<string, unknown>[] {
  const prices = { input_per_million: '1', output_per_million: '2' }
  const keys = { access_key_id: 'AKIASIMULATED', secret_access_key: 'simulated' }
  const amazon = { preset: 'amazon-bedrock', region: 'us-east-1', identity: keys }
  const google = { preset: 'vertex-ai', api_key: 'simulated', key_form: 'bearer' }
  const project = 'v1beta1/projects/p-1/locations/global'
  const modelOf = (id: string, upstream: string) => ({ id, upstream, prices })
  return [
    {
      ...amazon,
      id: 'bedrock-invoked',
      base_url: `${url}/p/bedrock`,
      models: [modelOf(invokedModel, 'us.anthropic.claude-opus-4-7')],
    },
    {
      ...amazon,
      id: 'bedrock-conversing',
      base_url: `${url}/p/converse`,
      models: [
        modelOf(conversingModel, 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'),
        modelOf(novaModel, 'us.amazon.nova-2-lite-v1:0'),
      ],
    },
    {
      ...google,
      id: 'vertex-google',
      base_url: `${url}/p/vertex/${project}`,
      models: [modelOf(projectGeminiModel, 'gemini-2.5-flash')],
    },
    {
      ...google,
      id: 'vertex-claude',
      base_url: `${url}/p/vertex-claude/${project}`,
      models: [modelOf(projectClaudeModel, 'claude-opus-4-8')],
    },
  ]
}
