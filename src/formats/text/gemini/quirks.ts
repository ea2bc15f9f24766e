import { quirksOf, type TextQuirks } from '../codec.ts'
import type { TextInterface, TextPath } from '../text-interface.ts'
import type { AddressSupport } from '../media/address-support.ts'

/** How a model is told to think: by one of four levels, by a number of tokens, or not at all. */
export type GeminiThinking =
  /** `levelMin` is the lowest level that the model takes. Its thinking cannot be switched off. */
  | { kind: 'level'; levelMin: 'MINIMAL' | 'LOW' }
  /** From `min` to `max` tokens, and also 0 when thinking can be switched off. */
  | { kind: 'budget'; min: number; max: number; canBeOff: boolean }
  | { kind: 'none' }

/** The members of the format that a model takes. */
export interface GeminiModel {
  thinking: GeminiThinking
  /** Whether the model takes `systemInstruction`; otherwise the instructions become the user's first text. */
  hasSystem: boolean
  /** Whether results of tools may contain images. */
  hasResultMedia: boolean
  /**
   * Whether the first call of each step must have its signature when it is sent back; without it the provider refuses
   * the request.
   */
  needsSignatures: boolean
  /** Whether the model takes a form for the answer together with tools. */
  hasFormatBesideTools: boolean
  /**
   * The most tokens of one answer, thoughts included. A budget for thinking is computed from it when the caller sets no
   * limit.
   */
  outputTokensMax: number
}

/** Where a provider with Gemini's format differs from Google AI Studio, as data. */
export interface GeminiQuirkOptions {
  /**
   * Whether the provider is the maker of the format, whose seals of thoughts need no mark. The seals of another
   * provider are marked with its name and go back only to it. Default true.
   */
  isMaker?: boolean
  /** What a model of this name takes. Default: what Gemini 2.5 Flash takes. */
  modelOf?: (upstreamModel: string) => GeminiModel
  /** The media that the provider fetches by URL. Default: only files that it keeps, and YouTube videos. */
  addresses?: AddressSupport
  /** The most texts of one request for embeddings. Default 100. */
  embeddingInputsMax?: number
}

/** Options with their defaults. */
export interface GeminiQuirks extends Required<GeminiQuirkOptions> {
  format: 'gemini'
}

const usualModel: GeminiModel = {
  thinking: { kind: 'budget', min: 0, max: 24_576, canBeOff: true },
  hasSystem: true,
  hasResultMedia: false,
  needsSignatures: false,
  hasFormatBesideTools: false,
  outputTokensMax: 65_536,
}

/** Files that were uploaded to the provider, and videos that it takes by their page. */
const ownAddresses =
  /^https:\/\/(?:generativelanguage\.googleapis\.com\/[\w/]*files\/|(?:www\.)?youtube\.com\/watch\?|youtu\.be\/)/i

/** Completes options with defaults. */
export function geminiQuirks(options: GeminiQuirkOptions = {}): GeminiQuirks {
  return {
    format: 'gemini',
    isMaker: options.isMaker ?? true,
    modelOf: options.modelOf ?? (() => usualModel),
    addresses: options.addresses ?? { image: 'none', file: 'none', own: ownAddresses },
    embeddingInputsMax: options.embeddingInputsMax ?? 100,
  }
}

/** Gemini's contents, with a provider's differences as data. The path names the model and says whether to stream. */
export function geminiContent(
  options: GeminiQuirkOptions = {},
  path: TextPath = ({ model, stream }) =>
    `/models/${encodeURIComponent(model)}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
): TextInterface<GeminiQuirks> {
  return { format: 'gemini', path, quirks: geminiQuirks({ isMaker: false, ...options }) }
}

/** Gemini's embeddings, several texts at once, with a provider's differences as data. */
export function geminiEmbeddings(options: GeminiQuirkOptions = {}): TextInterface<GeminiQuirks> {
  return geminiContent(options, ({ model }) => `/models/${encodeURIComponent(model)}:batchEmbedContents`)
}

/** The quirks of a provider that has this format. */
export function asGemini(quirks: TextQuirks): GeminiQuirks {
  return quirksOf<GeminiQuirks>(quirks, 'gemini')
}
