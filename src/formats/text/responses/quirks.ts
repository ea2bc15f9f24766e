import { quirksOf, type TextQuirks } from '../codec.ts'
import type { TextInterface, TextPath } from '../text-interface.ts'
import type { AddressSupport } from '../media/address-support.ts'

/** The members of the format that a model takes. */
export interface ResponsesModel {
  /**
   * When the model takes `temperature`, `top_p` and log probabilities. OpenAI's thinking models refuse them; some take
   * them only in a call with the effort `none` (`unthinking`).
   */
  sampling: 'always' | 'unthinking' | 'never'
  /** Whether the model takes `reasoning`; other models refuse the member. */
  reasons: boolean
}

/** Where a provider of OpenAI's responses differs from most, as data. */
export interface ResponsesQuirkOptions {
  /**
   * Whether the provider is the maker of the format, whose seals of thoughts need no mark. The seals of another
   * provider are marked with its name and go back only to it. Default true.
   */
  isMaker?: boolean
  /** What a model of this name takes. Default: sampling and reasoning. */
  modelOf?: (upstreamModel: string) => ResponsesModel
  /**
   * Whether its models seal their thoughts, so that `include` asks for the seals: clients then send them back, and the
   * provider stores nothing. Thoughts without a seal are left out of a history. Default false.
   */
  sealsThoughts?: boolean
  /** Whether plain thoughts go back as `content` of a reasoning item. Default false: they are left out. */
  takesOpenThoughts?: boolean
  /**
   * Whether it has the members of OpenAI's own service (`metadata`, `prompt_cache_key`, `text.verbosity`). Default
   * false.
   */
  hasOpenAiMembers?: boolean
  /** The least `max_output_tokens`; a lower value is raised to it. Default 1. */
  outputTokensMin?: number
  /** Service tiers, by the provider's names, that cost the same as its default; others are left out. Default none. */
  serviceTiers?: readonly string[]
  /** The longest `user` that the provider takes; a longer one is left out. Default: no limit is known. */
  userLengthMax?: number
  /**
   * Whether an item of an answer calls a tool that the provider itself runs, although it looks like the caller's tool.
   * Default: never.
   */
  runsItself?: (item: Readonly<Record<string, unknown>>) => boolean
  /** The media that the provider fetches by URL. Default: images at any URL, and files at https URLs. */
  addresses?: AddressSupport
}

/** Options with their defaults. */
export interface ResponsesQuirks extends Required<ResponsesQuirkOptions> {
  format: 'responses'
}

const anyModel: ResponsesModel = { sampling: 'always', reasons: true }

/** Completes options with defaults: a host that knows the core of the format and stores nothing. */
export function responsesQuirks(options: ResponsesQuirkOptions = {}): ResponsesQuirks {
  return {
    format: 'responses',
    isMaker: options.isMaker ?? true,
    modelOf: options.modelOf ?? (() => anyModel),
    sealsThoughts: options.sealsThoughts ?? false,
    takesOpenThoughts: options.takesOpenThoughts ?? false,
    hasOpenAiMembers: options.hasOpenAiMembers ?? false,
    outputTokensMin: options.outputTokensMin ?? 1,
    serviceTiers: options.serviceTiers ?? [],
    userLengthMax: options.userLengthMax ?? Number.POSITIVE_INFINITY,
    runsItself: options.runsItself ?? (() => false),
    addresses: options.addresses ?? { image: 'any', file: 'https' },
  }
}

/** OpenAI's responses, with a provider's differences as data. Only OpenAI's own preset sets `isMaker`. */
export function openAiResponses(
  options: ResponsesQuirkOptions = {},
  path: TextPath = '/responses',
): TextInterface<ResponsesQuirks> {
  return { format: 'responses', path, quirks: responsesQuirks({ isMaker: false, ...options }) }
}

/** The quirks of a provider that has this format. */
export function asResponses(quirks: TextQuirks): ResponsesQuirks {
  return quirksOf<ResponsesQuirks>(quirks, 'responses')
}
