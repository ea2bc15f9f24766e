import { quirksOf, type TextQuirks } from '../codec.ts'
import type { TextInterface, TextPath } from '../text-interface.ts'
import type { AddressSupport } from '../media/address-support.ts'

/** How a model is asked to think: at one of four levels, within a number of tokens, or not at all. */
export type GeminiThinking =
  /** `levelMin` is the least level it takes; it cannot be told not to think. */
  | { kind: 'level'; levelMin: 'MINIMAL' | 'LOW' }
  /** Tokens from `min` to `max`; 0 besides where it can be told not to think. */
  | { kind: 'budget'; min: number; max: number; canBeOff: boolean }
  | { kind: 'none' }

/** What a model takes of the format's members. */
export interface GeminiModel {
  thinking: GeminiThinking
  /** `systemInstruction`; another model is told the instructions in the user's first words. */
  hasSystem: boolean
  /** Images inside the results of tools. */
  hasResultMedia: boolean
  /** Every first call of a step must carry a signature when it is given back, else the request is refused. */
  needsSignatures: boolean
  /** The form of the answer beside tools that it may call. */
  hasFormatBesideTools: boolean
  /** Most tokens of one answer, its thoughts included: the base of a budget when nobody sets a limit. */
  outputTokensMax: number
}

/** Where a provider that speaks Gemini's format differs from Google AI Studio, as data. */
export interface GeminiQuirkOptions {
  /**
   * Whether it is the maker of the format, whose seals of thoughts need no mark; another's are marked with its name, and
   * given back to it alone. Default true.
   */
  isMaker?: boolean
  /** What a model of this name takes. Default: what Gemini 2.5 Flash takes. */
  modelOf?: (upstreamModel: string) => GeminiModel
  /** What it fetches itself. Default: only what it keeps itself, and videos of its own house. */
  addresses?: AddressSupport
  /** Texts of one request for embeddings. Default 100. */
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

/** Files that were uploaded to the provider, and videos that it knows by their page. */
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

/** Gemini's contents, whose path says the model and whether it is to stream, with a provider's departures as data. */
export function geminiContent(
  options: GeminiQuirkOptions = {},
  path: TextPath = ({ model, stream }) =>
    `/models/${encodeURIComponent(model)}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
): TextInterface<GeminiQuirks> {
  return { format: 'gemini', path, quirks: geminiQuirks({ isMaker: false, ...options }) }
}

/** Gemini's embeddings, several texts at once, with a provider's departures as data. */
export function geminiEmbeddings(options: GeminiQuirkOptions = {}): TextInterface<GeminiQuirks> {
  return geminiContent(options, ({ model }) => `/models/${encodeURIComponent(model)}:batchEmbedContents`)
}

/** The quirks of a provider that speaks this format. */
export function asGemini(quirks: TextQuirks): GeminiQuirks {
  return quirksOf<GeminiQuirks>(quirks, 'gemini')
}
