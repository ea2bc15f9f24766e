import type { ProviderConfig } from '../../src/config-file.ts'

/** A provider with a batch service of its own, and how the simulator plays it. */
export interface PlayedService {
  preset: string
  /** What the configuration and the mounts of the simulator call it. */
  name: string
  /** The provider's name of the model. */
  upstream: string
  /** The part of the live price that a batch costs. */
  share: number
  /** Whether the provider's documents state that part, so that the operator need not. */
  isShareKnown: boolean
  /** Endpoints of batches that its jobs run, translated where that is needed. */
  endpoints: readonly string[]
  /** The path below the mount, and that of the request which creates a job. */
  base: string
  create: string
  /** Settings of the mount. */
  settings: Readonly<Record<string, unknown>>
  /** Its jobs stay when they have ended, because there is no call that removes them. */
  keepsJobs: boolean
  /** A job can be cancelled. */
  isCancellable: boolean
  /** A job that has expired has the results of what was run. */
  keepsExpired: boolean
  /** The counters of the simulator that count its batches. */
  counters: string
  provider?: Partial<ProviderConfig>
  /** Its jobs go through the adapter of another service here, with another address or other limits. */
  isOfAnotherForm?: true
  model?: Partial<NonNullable<ProviderConfig['models']>[number]>
}

const all = ['/v1/chat/completions', '/v1/messages', '/v1/responses']
const usual = {
  upstream: 'gpt-4o-mini',
  share: 0.5,
  isShareKnown: true,
  endpoints: all,
  base: '/v1',
  create: '/v1/batches',
  keepsJobs: true,
  isCancellable: true,
  keepsExpired: true,
  counters: 'batches',
}

/** A least wait of a minute would make every life take minutes. */
const soon = { batches: { look_seconds: 1 } }

export const playedServices: readonly PlayedService[] = [
  { ...usual, preset: 'openai', name: 'openai', settings: {} },
  { ...usual, preset: 'groq', name: 'groq', isOfAnotherForm: true, settings: {} },
  { ...usual, preset: 'deepinfra', name: 'deepinfra', share: 0.8, isOfAnotherForm: true, settings: {} },
  {
    ...usual,
    preset: 'moonshot',
    name: 'moonshot',
    upstream: 'kimi-k2.5',
    share: 0.6,
    isOfAnotherForm: true,
    settings: {},
  },
  {
    ...usual,
    preset: 'azure',
    name: 'azure',
    base: '/openai/v1',
    create: '/openai/v1/batches',
    settings: {},
    provider: soon,
    model: { batch_upstream: 'gpt-4o-mini-batch' },
  },
  {
    ...usual,
    preset: 'azure',
    name: 'azure-dated',
    isOfAnotherForm: true,
    base: '/openai',
    create: '/openai/batches',
    endpoints: ['/v1/chat/completions', '/v1/messages'],
    settings: {},
    provider: { ...soon, query: { 'api-version': '2025-04-01-preview' } },
    model: { batch_upstream: 'gpt-4o-mini-batch' },
  },
  {
    ...usual,
    preset: 'novita',
    name: 'novita',
    isShareKnown: false,
    settings: { batch_service: 'novita' },
  },
  {
    ...usual,
    preset: 'custom',
    name: 'acme-server',
    isOfAnotherForm: true,
    isShareKnown: false,
    settings: {},
    provider: { batches: true },
  },
  {
    ...usual,
    preset: 'together',
    name: 'together',
    isShareKnown: false,
    settings: { batch_service: 'together' },
  },
  { ...usual, preset: 'xai', name: 'xai', isShareKnown: false, settings: { batch_service: 'xai' } },
  {
    ...usual,
    preset: 'openrouter',
    name: 'openrouter',
    // Sealed thoughts are asked for, which the simulator's other models refuse.
    upstream: 'gpt-5-mini',
    isShareKnown: false,
    keepsJobs: false,
    isCancellable: false,
    settings: { batch_service: 'openrouter' },
  },
  {
    ...usual,
    preset: 'zai',
    name: 'zhipu',
    upstream: 'glm-4-flash',
    settings: { batch_service: 'zhipu' },
    provider: { batches: true },
    isOfAnotherForm: true,
  },
  {
    ...usual,
    preset: 'mistral',
    name: 'mistral',
    create: '/v1/batch/jobs',
    keepsJobs: false,
    settings: {},
  },
  {
    ...usual,
    preset: 'google-ai-studio',
    name: 'gemini',
    upstream: 'gemini-2.5-flash',
    base: '/v1beta',
    create: '/v1beta/models/gemini-2.5-flash:batchGenerateContent',
    keepsJobs: false,
    keepsExpired: false,
    settings: {},
  },
]

// A dollar for a million tokens of input and two for output, so that a share of it is easy to see.
const live = { input_per_million: '1', output_per_million: '2' }

/** The deployment of a service at a mount of its own, with one model `test/<mount>`. */
export function deploymentOf(service: PlayedService, mount: string, simulatorUrl: string): ProviderConfig {
  const { preset, upstream, share, isShareKnown, base, provider = {}, model = {} } = service
  const batch = { input_per_million: String(share), output_per_million: String(2 * share) }
  const prices = isShareKnown ? live : { ...live, service_tiers: { batch } }
  return {
    id: mount,
    preset,
    base_url: `${simulatorUrl}/p/${mount}${base}`,
    api_key: 'sk-test',
    weight: 1,
    discover: false,
    models: [{ id: `test/${mount}`, upstream, prices, ...model }],
    ...provider,
  }
}

/** What answers of a service cost in a batch at these prices, in nanocredits. */
export function priceByHand(
  { share }: PlayedService,
  usage: { prompt_tokens: number; completion_tokens: number },
): number {
  const microdollars = (usage.prompt_tokens + 2 * usage.completion_tokens) * share
  return Math.round(microdollars * 1e3)
}

/** The body of an item that says something. */
export function itemBody(endpoint: string, text: string): Record<string, unknown> {
  if (endpoint === '/v1/responses') return { input: text, max_output_tokens: 30 }
  return { messages: [{ role: 'user', content: text }], max_tokens: 30 }
}
