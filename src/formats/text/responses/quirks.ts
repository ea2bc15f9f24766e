import { quirksOf, type TextQuirks } from '../codec.ts'
import type { TextInterface, TextPath } from '../text-interface.ts'
import type { AddressSupport } from '../media/address-support.ts'

/** What a model takes of the format's members. */
export interface ResponsesModel {
  /** `temperature`, `top_p` and log probabilities; models that think refuse them at OpenAI, some `unthinking` take them. */
  sampling: 'always' | 'unthinking' | 'never'
  /** `reasoning`. Others refuse the member. */
  reasons: boolean
}

/** Where a provider that speaks OpenAI's responses differs from most, as data. */
export interface ResponsesQuirkOptions {
  /**
   * Whether it is the maker of the format, whose seals of thoughts need no mark; another's are marked with its name, and
   * given back to it alone. Default true.
   */
  isMaker?: boolean
  /** What a model of this name takes. Default: sampling and reasoning. */
  modelOf?: (upstreamModel: string) => ResponsesModel
  /**
   * Whether its models seal their thoughts, so that `include` asks for them: a client then gives them back, and nothing
   * has to be stored. Thoughts without a seal are left out of a history. Default false.
   */
  sealsThoughts?: boolean
  /** Whether thoughts in plain words go back as `content` of a reasoning item. Default false: they are left out. */
  takesOpenThoughts?: boolean
  /** Members of OpenAI's own service alone (`metadata`, `prompt_cache_key`, `text.verbosity`). Default false. */
  hasOpenAiMembers?: boolean
  /** Least `max_output_tokens`; less is raised to it. Default 1. */
  outputTokensMin?: number
  /** Service tiers, by the provider's own names, that cost what its default costs; others are left out. Default none. */
  serviceTiers?: readonly string[]
  /** Longest `user` the provider takes; a longer one is left out. Default: no limit known. */
  userLengthMax?: number
  /** Whether the item of an answer is a tool that the provider itself runs, though it looks like the caller's. Default: none is. */
  runsItself?: (item: Readonly<Record<string, unknown>>) => boolean
  /** What it fetches itself. Default: images of any address, and files at an address of https. */
  addresses?: AddressSupport
}

/** Options with their defaults. */
export interface ResponsesQuirks extends Required<ResponsesQuirkOptions> {
  format: 'responses'
}

const anyModel: ResponsesModel = { sampling: 'always', reasons: true }

/** Completes options with defaults: a host that knows the core of the format and keeps nothing. */
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

/** OpenAI's responses, with a provider's departures as data. OpenAI itself says that it `isMaker`. */
export function openAiResponses(
  options: ResponsesQuirkOptions = {},
  path: TextPath = '/responses',
): TextInterface<ResponsesQuirks> {
  return { format: 'responses', path, quirks: responsesQuirks({ isMaker: false, ...options }) }
}

/** The quirks of a provider that speaks this format. */
export function asResponses(quirks: TextQuirks): ResponsesQuirks {
  return quirksOf<ResponsesQuirks>(quirks, 'responses')
}
