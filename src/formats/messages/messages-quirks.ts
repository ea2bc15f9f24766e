import type { AddressSupport } from '../address-support.ts'

/** What a model takes of the format's members. */
export interface MessagesModel {
  /** `temperature`, `top_p` and `top_k`; newer models refuse them. */
  hasSampling: boolean
  /** How it is asked to think: as it sees fit, within a number of tokens, or not at all. */
  thinking: 'adaptive' | 'budget' | 'none'
  /** `output_config.effort`. */
  hasEffort: boolean
  /** `output_config.format` with a JSON schema. */
  hasSchema: boolean
  /** Messages of the role `system` in the middle of a conversation. */
  hasSystemTurns: boolean
  /** Most tokens of one answer: what is asked for when the caller sets no limit, since the format needs one. */
  outputTokensMax: number
}

/** Where a provider that speaks Anthropic's messages differs from Anthropic, as data. */
export interface MessagesQuirkOptions {
  /** What a model of this name takes. Default: everything that an older Claude takes. */
  modelOf?: (upstreamModel: string) => MessagesModel
  /** `image` blocks. Default true. */
  hasImages?: boolean
  /** `document` blocks. Default true. */
  hasDocuments?: boolean
  /** `cache_control` marks. Default true; others are sent none. */
  hasCacheMarks?: boolean
  /** What it fetches itself. Default: what lies at an address of https, as Anthropic does. */
  addresses?: AddressSupport
}

/** Options with their defaults. */
export interface MessagesQuirks extends Required<MessagesQuirkOptions> {
  format: 'messages'
}

const olderClaude: MessagesModel = {
  hasSampling: true,
  thinking: 'budget',
  hasEffort: false,
  hasSchema: true,
  hasSystemTurns: false,
  outputTokensMax: 8_192,
}

/** Completes options with defaults. */
export function messagesQuirks(options: MessagesQuirkOptions = {}): MessagesQuirks {
  return {
    format: 'messages',
    modelOf: options.modelOf ?? (() => olderClaude),
    hasImages: options.hasImages ?? true,
    hasDocuments: options.hasDocuments ?? true,
    hasCacheMarks: options.hasCacheMarks ?? true,
    addresses: options.addresses ?? { image: 'https', file: 'https' },
  }
}
