import { ApiError, invalidRequest } from '../errors.ts'
import type { JsonObject } from '../json.ts'

/** A served Google model, with the rules for its requests. */
export interface GoogleModel {
  id: string
  displayName: string
  kind: 'content' | 'embedding'
  inputTokensMax: number
  outputTokensMax: number
  /** Thinks within a budget of tokens, or at a level; others do not think. */
  thinking?: { budgetMin: number; budgetMax: number; canBeOff: boolean } | { hasMinimal: boolean }
  /**
   * Whether it refuses a call in the history without its signature, and takes images in results and a JSON answer
   * together with tools.
   */
  isThird?: boolean
  /** Refuses `systemInstruction`. */
  isOpen?: boolean
  /** Refuses sound. */
  isDeaf?: boolean
  /** Only makes speech of a text. */
  isSpeaker?: boolean
  /** The number of dimensions of a full vector. */
  dimensions?: number
}

const million = 1_048_576

const models: readonly GoogleModel[] = [
  content('gemini-2.5-flash', 'Gemini 2.5 Flash', {
    thinking: { budgetMin: 0, budgetMax: 24_576, canBeOff: true },
  }),
  content('gemini-2.5-pro', 'Gemini 2.5 Pro', {
    thinking: { budgetMin: 128, budgetMax: 32_768, canBeOff: false },
  }),
  content('gemini-3-pro-preview', 'Gemini 3 Pro', { thinking: { hasMinimal: false }, isThird: true }),
  content('gemini-3-flash-preview', 'Gemini 3 Flash', { thinking: { hasMinimal: true }, isThird: true }),
  content('gemini-2.0-flash', 'Gemini 2.0 Flash', { outputTokensMax: 8_192 }),
  content('gemma-3-27b-it', 'Gemma 3 27B', {
    inputTokensMax: 131_072,
    outputTokensMax: 8_192,
    isOpen: true,
    isDeaf: true,
  }),
  speaker('gemini-2.5-flash-preview-tts', 'Gemini 2.5 Flash Preview TTS'),
  speaker('gemini-2.5-pro-preview-tts', 'Gemini 2.5 Pro Preview TTS'),
  speaker('gemini-3.1-flash-tts-preview', 'Gemini 3.1 Flash TTS Preview'),
  speaker('gemini-3.8-flash-tts', 'Gemini 3.8 Flash TTS'),
  speaker('gemini-3.8-flash-lite-tts', 'Gemini 3.8 Flash-Lite TTS'),
  {
    id: 'gemini-embedding-001',
    displayName: 'Gemini Embedding 001',
    kind: 'embedding',
    inputTokensMax: 2_048,
    outputTokensMax: 1,
    dimensions: 3_072,
  },
]

function content(id: string, displayName: string, traits: Partial<GoogleModel>): GoogleModel {
  return { id, displayName, kind: 'content', inputTokensMax: million, outputTokensMax: 65_536, ...traits }
}

function speaker(id: string, displayName: string): GoogleModel {
  return content(id, displayName, {
    inputTokensMax: 8_192,
    outputTokensMax: 16_384,
    isSpeaker: true,
    isDeaf: true,
  })
}

/** The model of a request's path, for one kind of request; with `any` every name is served as a plain model. Throws 404. */
export function findGoogleModel(id: string, kind: GoogleModel['kind'], any = false): GoogleModel {
  const model = models.find((each) => each.id === id)
  if (model?.kind === kind) return model
  if (any) return content(id, id, { kind, dimensions: 768 })
  const message = `models/${id} is not found for API version v1beta, or is not supported for this method.`
  throw new ApiError({ status: 404, message })
}

function listed(model: GoogleModel): JsonObject {
  const own = model.kind === 'content' ? ['generateContent', 'countTokens'] : ['embedContent', 'countTokens']
  return {
    name: `models/${model.id}`,
    version: '001',
    displayName: model.displayName,
    inputTokenLimit: model.inputTokensMax,
    outputTokenLimit: model.outputTokensMax,
    supportedGenerationMethods: own,
  }
}

const usualPageSize = 50

/** The body of `GET /models`, page by page. Throws 400 for a token that no page gave. */
export function googleModelList(query: URLSearchParams): string {
  const size = Math.min(Math.max(1, Number(query.get('pageSize') ?? usualPageSize) || usualPageSize), 1_000)
  const start = Number(query.get('pageToken') ?? 0)
  if (!Number.isInteger(start) || start < 0) throw invalidRequest('Invalid page token.')
  const end = start + size
  return JSON.stringify({
    models: models.slice(start, end).map(listed),
    ...(end < models.length ? { nextPageToken: String(end) } : {}),
  })
}

/** The body of `GET /models/{id}`. Throws 404 for an unknown one. */
export function googleModelBody(id: string): string {
  const model = models.find((each) => each.id === id)
  if (model !== undefined) return JSON.stringify(listed(model))
  throw new ApiError({ status: 404, message: `models/${id} is not found for API version v1beta.` })
}
