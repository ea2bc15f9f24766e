import { quirksOf, type TextQuirks } from '../codec.ts'
import type { TextInterface, TextPath } from '../text-interface.ts'
import type { AddressSupport } from '../media/address-support.ts'

/** The members of the format that a model takes. */
export interface MessagesModel {
  /**
   * Which of `temperature`, `top_p` and `top_k` the model takes: `one_of` takes `temperature` or `top_p` but refuses
   * both together; `none` refuses all three.
   */
  sampling: 'all' | 'one_of' | 'none'
  /** How the model is told to think: `adaptive` (it decides how much), `budget` (a number of tokens), or not at all. */
  thinking: 'adaptive' | 'budget' | 'none'
  /** Whether it takes `output_config.effort`. */
  hasEffort: boolean
  /** Whether it takes `output_config.format` with a JSON schema. */
  hasSchema: boolean
  /** Whether it takes messages of the role `system` in the middle of a conversation. */
  hasSystemTurns: boolean
  /** The most tokens of one answer. Sent when the caller sets no limit, because the format requires one. */
  outputTokensMax: number
}

/** What stands in the body at a cloud, whose path names the model. */
export interface BodyForm {
  /** The value of `anthropic_version`. */
  version: string
  /** Whether the body has `stream`, too; otherwise only the path says it. */
  hasStream: boolean
  /** Whether `anthropic_beta` is a list in the body instead of a header. */
  hasBetas: boolean
  /** Names of betas that it takes; it refuses a call with another. */
  betas: RegExp
  /** Types of Anthropic's own tools that the cloud takes. */
  serverTools: RegExp
}

/** Where a provider of Anthropic's messages differs from Anthropic, as data. */
export interface MessagesQuirkOptions {
  /**
   * Whether the provider is the maker of the format, whose seals of thoughts need no mark. The seals of another
   * provider are marked with its name and go back only to it. Default true.
   */
  isMaker?: boolean
  /** What a model of this name takes. Default: everything that an older Claude takes. */
  modelOf?: (upstreamModel: string) => MessagesModel
  /** Whether it takes `image` blocks. Default true. */
  hasImages?: boolean
  /** Whether it takes `document` blocks. Default true. */
  hasDocuments?: boolean
  /** Whether it takes `cache_control` marks. Default true; otherwise none are sent. */
  hasCacheMarks?: boolean
  /** Whether it takes `tool_choice`. Default true; otherwise the model chooses, and another choice is left out. */
  hasToolChoice?: boolean
  /** Whether it takes `metadata`. Default true; otherwise none is sent. */
  hasMetadata?: boolean
  /**
   * Whether it signs thoughts. Default true. False at hosts of other models than Claude whose documentation has no
   * signature: thoughts without one go back to them unchanged.
   */
  signsThoughts?: boolean
  /** Set for a provider whose path names the model. Default null: the body has the model, and headers the rest. */
  inBody?: BodyForm | null
  /** The media that it fetches by URL. Default: https URLs, like Anthropic. */
  addresses?: AddressSupport
}

/** Options with their defaults. */
export interface MessagesQuirks extends Required<MessagesQuirkOptions> {
  format: 'messages'
  /** Whether it takes the whole format, so that a request in this format may pass unchanged. */
  isWhole: boolean
}

const olderClaude: MessagesModel = {
  sampling: 'all',
  thinking: 'budget',
  hasEffort: false,
  hasSchema: true,
  hasSystemTurns: false,
  outputTokensMax: 8_192,
}

/** Completes options with defaults. */
export function messagesQuirks(options: MessagesQuirkOptions = {}): MessagesQuirks {
  const has = {
    hasImages: options.hasImages ?? true,
    hasDocuments: options.hasDocuments ?? true,
    hasCacheMarks: options.hasCacheMarks ?? true,
    hasToolChoice: options.hasToolChoice ?? true,
    hasMetadata: options.hasMetadata ?? true,
  }
  return {
    format: 'messages',
    isMaker: options.isMaker ?? true,
    modelOf: options.modelOf ?? (() => olderClaude),
    ...has,
    isWhole: Object.values(has).every(Boolean),
    signsThoughts: options.signsThoughts ?? true,
    inBody: options.inBody ?? null,
    addresses: options.addresses ?? { image: 'https', file: 'https' },
  }
}

/** Anthropic's messages, with a provider's differences as data. Only Anthropic's own preset sets `isMaker`. */
export function anthropicMessages(
  options: MessagesQuirkOptions = {},
  path: TextPath = '/messages',
): TextInterface<MessagesQuirks> {
  return { format: 'messages', path, quirks: messagesQuirks({ isMaker: false, ...options }) }
}

/** The quirks of a provider that has this format. */
export function asMessages(quirks: TextQuirks): MessagesQuirks {
  return quirksOf<MessagesQuirks>(quirks, 'messages')
}
