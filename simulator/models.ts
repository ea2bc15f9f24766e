import { invalidRequest, modelNotFound } from './errors.ts'

/** The operations of a model, one value each. */
export type ModelKind =
  | 'chat'
  | 'completion'
  | 'messages'
  | 'embedding'
  | 'transcription'
  | 'speech'
  | 'rerank'

/** One served model and the limits by which its requests are judged. */
export interface Model {
  id: string
  kind: ModelKind
  /** The dated name that answers carry instead of the asked one, as OpenAI does; it can also be asked for. */
  snapshot?: string
  /** The model thinks before it answers, and refuses sampling options, stop texts and `max_tokens`. */
  reasoning?: boolean
  /**
   * The model nevertheless takes temperature, top_p and log probabilities when the request sets the effort
   * `none`.
   */
  samplesUnthinking?: boolean
  contextTokens?: number
  outputTokensMax?: number
  /** Length of an embedding when the request names none. */
  dimensions?: number
  created: number
  /** Whether the host serves models of its own: their abilities are unknown, so nothing is refused. */
  isOpen?: boolean
  /** The properties of a model that only Messages needs. */
  claude?: ClaudeModel
}

/** How a model of Anthropic's differs from its older siblings. */
export interface ClaudeModel {
  displayName: string
  /** Thinks at `{"type": "adaptive"}`. */
  adaptive?: boolean
  /** Refuses sampling options, thinking with a budget and a begun answer. */
  adaptiveOnly?: boolean
  /** Refuses temperature and top_p together. */
  oneSampling?: boolean
}

const models: readonly Model[] = [
  chat('gpt-4o-mini', 'gpt-4o-mini-2024-07-18', 1721172741, {
    contextTokens: 128_000,
    outputTokensMax: 16_384,
  }),
  chat('gpt-4o', 'gpt-4o-2024-08-06', 1715367049, { contextTokens: 128_000, outputTokensMax: 16_384 }),
  chat('gpt-4.1-mini', 'gpt-4.1-mini-2025-04-14', 1744318173, {
    contextTokens: 1_047_576,
    outputTokensMax: 32_768,
  }),
  chat('o4-mini', 'o4-mini-2025-04-16', 1744225351, {
    contextTokens: 200_000,
    outputTokensMax: 100_000,
    reasoning: true,
  }),
  chat('gpt-5.4', 'gpt-5.4-2026-03-05', 1772668800, {
    contextTokens: 1_050_000,
    outputTokensMax: 128_000,
    reasoning: true,
    samplesUnthinking: true,
  }),
  chat('gpt-5.1-codex', 'gpt-5.1-codex', 1762905600, {
    contextTokens: 400_000,
    outputTokensMax: 128_000,
    reasoning: true,
  }),
  {
    id: 'gpt-3.5-turbo-instruct',
    kind: 'completion',
    created: 1692901427,
    contextTokens: 4_096,
    outputTokensMax: 4_096,
  },
  claude('claude-sonnet-4-5', 'claude-sonnet-4-5-20250929', '2025-09-29', {
    displayName: 'Claude Sonnet 4.5',
    oneSampling: true,
  }),
  claude('claude-haiku-4-5', 'claude-haiku-4-5-20251001', '2025-10-01', {
    displayName: 'Claude Haiku 4.5',
    oneSampling: true,
  }),
  claude('claude-opus-4-5', 'claude-opus-4-5-20251101', '2025-11-01', {
    displayName: 'Claude Opus 4.5',
    oneSampling: true,
  }),
  claude('claude-opus-4-6', null, '2026-02-05', {
    displayName: 'Claude Opus 4.6',
    adaptive: true,
    oneSampling: true,
  }),
  claude('claude-opus-4-7', null, '2026-04-16', newest('Claude Opus 4.7')),
  claude('claude-opus-4-8', null, '2026-06-01', newest('Claude Opus 4.8')),
  claude('claude-sonnet-5', null, '2026-07-01', newest('Claude Sonnet 5')),
  claude('claude-fable-5', null, '2026-07-15', newest('Claude Fable 5')),
  claude('claude-opus-5', null, '2026-08-01', newest('Claude Opus 5')),
  { id: 'text-embedding-3-small', kind: 'embedding', dimensions: 1536, created: 1705948997 },
  { id: 'text-embedding-3-large', kind: 'embedding', dimensions: 3072, created: 1705953180 },
  { id: 'whisper-1', kind: 'transcription', created: 1677532384 },
  { id: 'gpt-4o-mini-transcribe', kind: 'transcription', created: 1742068596 },
  { id: 'gpt-4o-transcribe', kind: 'transcription', created: 1742068463 },
  { id: 'gpt-4o-transcribe-diarize', kind: 'transcription', created: 1750798887 },
  { id: 'gpt-transcribe', kind: 'transcription', created: 1782000000 },
  { id: 'tts-1', kind: 'speech', created: 1681940951 },
  { id: 'tts-1-hd', kind: 'speech', created: 1699046015 },
  { id: 'gpt-4o-mini-tts', kind: 'speech', created: 1742403959 },
  { id: 'cohere/rerank-v3.5', kind: 'rerank', created: 1733097600 },
]

function chat(id: string, snapshot: string, created: number, limits: Partial<Model>): Model {
  return { id, snapshot, kind: 'chat', created, ...limits }
}

function claude(id: string, snapshot: string | null, date: string, traits: ClaudeModel): Model {
  return {
    id,
    ...(snapshot === null ? {} : { snapshot }),
    kind: 'messages',
    created: Date.parse(date) / 1000,
    contextTokens: traits.adaptive === true ? 1_000_000 : 200_000,
    outputTokensMax: traits.adaptive === true ? 128_000 : 64_000,
    claude: traits,
  }
}

function newest(displayName: string): ClaudeModel {
  return { displayName, adaptive: true, adaptiveOnly: true }
}

const byName = new Map<string, Model>()
for (const model of models) {
  byName.set(model.id, model)
  if (model.snapshot !== undefined) byName.set(model.snapshot, model)
}

/** The models that Messages serves, newest first. */
export function claudeModels(): Model[] {
  return models.filter((model) => model.kind === 'messages').toReversed()
}

/** A model by its name, or by the name of its snapshot. */
export function modelNamed(name: string): Model | undefined {
  return byName.get(name)
}

/**
 * The model of a request, for the operation it was asked for; with `any` every name is served as a plain model.
 * Throws 400 when the value is not a name, 404 when the model is not served.
 */
export function findModel(name: unknown, kind: ModelKind, any = false): Model {
  if (name === undefined || name === null) {
    throw invalidRequest("Missing required parameter: 'model'.", 'model', 'missing_required_parameter')
  }
  if (typeof name !== 'string')
    throw invalidRequest("Invalid type for 'model': expected a string.", 'model', 'invalid_type')
  const model = byName.get(name)
  if (model?.kind === kind) return model
  if (any) return { ...model, id: name, kind, created: model?.created ?? 0, isOpen: true }
  throw modelNotFound(name)
}

function listed(model: Model) {
  return { id: model.id, object: 'model', created: model.created, owned_by: 'system' }
}

/** The body of `GET /models`, or, as some compatible hosts send it, the bare list. */
export function modelList(bare = false): string {
  const data = models.filter((model) => model.kind !== 'messages').map(listed)
  return JSON.stringify(bare ? data : { object: 'list', data })
}

/** The body of `GET /models/{id}`. Throws 404 for an unknown one. */
export function modelBody(id: string): string {
  const model = byName.get(id)
  if (model === undefined) throw modelNotFound(id)
  return JSON.stringify(listed(model))
}
