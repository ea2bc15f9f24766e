import { quirksOf, type TextQuirks } from '../codec.ts'
import type { TextInterface, TextPath } from '../text-interface.ts'
import type { AddressSupport } from '../media/address-support.ts'

/** The members of the format that a model takes. What the format itself has no place for goes into fields of the model's own. */
export interface ConverseModel {
  /**
   * How the model is told to think: `adaptive` and `budget` as Claude, `effort` as Nova by one of three levels, or not at
   * all.
   */
  thinking: 'adaptive' | 'budget' | 'effort' | 'none'
  /** Whether it takes Claude's `output_config.effort`. */
  hasEffort: boolean
  /** Which of `temperature` and `topP` it takes: `one_of` refuses both together. */
  sampling: 'all' | 'one_of' | 'none'
  /** The path of the most likely tokens that are drawn from, among the model's own fields; null where it has none. */
  topK: readonly string[] | null
  /** Whether the answer can be held to a JSON schema. */
  hasSchema: boolean
  /** Whether it takes instructions; otherwise they become the user's first text. */
  hasSystem: boolean
  /** Whether it takes tools, and whether one or any of them can be required. */
  hasTools: boolean
  hasToolChoice: boolean
  hasImages: boolean
  hasDocuments: boolean
  /** Whether it takes points up to which the prompt is cached, also among tools, and whether one may be kept for an hour. */
  hasCachePoints: boolean
  hasToolCachePoints: boolean
  hasHourCache: boolean
  /** Whether results of tools may be marked as errors and have images. */
  hasResultStatus: boolean
  /** The most tokens of one answer. A budget for thinking is computed from it when the caller sets no limit. */
  outputTokensMax: number
}

/** Where a provider with Bedrock's Converse differs, as data. */
export interface ConverseQuirkOptions {
  /** Default false: signatures of thoughts are the makers' of its models, and open only there. */
  isMaker?: boolean
  /** What a model of this name takes. Default: text, tools and instructions. */
  modelOf?: (upstreamModel: string) => ConverseModel
  /** Default: only objects of S3. */
  addresses?: AddressSupport
}

/** Options with their defaults. */
export interface ConverseQuirks extends Required<ConverseQuirkOptions> {
  format: 'converse'
}

/** What is known of no model in particular. */
export const plainModel: ConverseModel = Object.freeze({
  thinking: 'none',
  hasEffort: false,
  sampling: 'all',
  topK: null,
  hasSchema: false,
  hasSystem: true,
  hasTools: true,
  hasToolChoice: false,
  hasImages: false,
  hasDocuments: true,
  hasCachePoints: false,
  hasToolCachePoints: false,
  hasHourCache: false,
  hasResultStatus: false,
  outputTokensMax: 4_096,
})

/** Objects of S3, which Bedrock reads with the account's own rights. */
export const bucketAddress = /^s3:\/\/[a-z0-9.-]{3,63}\/\S+$/

/** Completes options with defaults. */
export function converseQuirks(options: ConverseQuirkOptions = {}): ConverseQuirks {
  return {
    format: 'converse',
    isMaker: options.isMaker ?? false,
    modelOf: options.modelOf ?? (() => plainModel),
    addresses: options.addresses ?? { image: 'none', file: 'none', own: bucketAddress },
  }
}

/** Bedrock's Converse, with what its models take as data. The path names the model and says whether to stream. */
export function bedrockConverse(
  options: ConverseQuirkOptions = {},
  path: TextPath = ({ model, stream }) =>
    `/model/${encodeURIComponent(model)}/${stream ? 'converse-stream' : 'converse'}`,
): TextInterface<ConverseQuirks> {
  return { format: 'converse', path, quirks: converseQuirks(options) }
}

/** The quirks of a provider that has this format. */
export function asConverse(quirks: TextQuirks): ConverseQuirks {
  return quirksOf<ConverseQuirks>(quirks, 'converse')
}
