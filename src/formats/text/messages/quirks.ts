import { quirksOf, type TextQuirks } from '../codec.ts'
import type { TextInterface, TextPath } from '../text-interface.ts'
import type { AddressSupport } from '../media/address-support.ts'

/** What a model takes of the format's members. */
export interface MessagesModel {
  /**
   * Which of `temperature`, `top_p` and `top_k` it takes: `one_of` takes `temperature` or `top_p` and refuses both together,
   * `none` refuses all three.
   */
  sampling: 'all' | 'one_of' | 'none'
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
  /**
   * Whether it is the maker of the format, whose seals of thoughts need no mark; another's are marked with its name, and
   * given back to it alone. Default true.
   */
  isMaker?: boolean
  /** What a model of this name takes. Default: everything that an older Claude takes. */
  modelOf?: (upstreamModel: string) => MessagesModel
  /** `image` blocks. Default true. */
  hasImages?: boolean
  /** `document` blocks. Default true. */
  hasDocuments?: boolean
  /** `cache_control` marks. Default true; others are sent none. */
  hasCacheMarks?: boolean
  /** `tool_choice`. Default true; others choose themselves, and any other choice is left out. */
  hasToolChoice?: boolean
  /** `metadata`. Default true; others are sent none. */
  hasMetadata?: boolean
  /**
   * Whether it binds thoughts by a signature. Default true; false at hosts of other models than Claude, whose documents name
   * no signature: thoughts without one go back to these as they are.
   */
  signsThoughts?: boolean
  /** What it fetches itself. Default: what lies at an address of https, as Anthropic does. */
  addresses?: AddressSupport
}

/** Options with their defaults. */
export interface MessagesQuirks extends Required<MessagesQuirkOptions> {
  format: 'messages'
  /** Whether it takes the whole format, so that a request in it may pass as it came. */
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
    addresses: options.addresses ?? { image: 'https', file: 'https' },
  }
}

/** Anthropic's messages, with a provider's departures as data. Anthropic itself says that it `isMaker`. */
export function anthropicMessages(
  options: MessagesQuirkOptions = {},
  path: TextPath = '/messages',
): TextInterface<MessagesQuirks> {
  return { format: 'messages', path, quirks: messagesQuirks({ isMaker: false, ...options }) }
}

/** The quirks of a provider that speaks this format. */
export function asMessages(quirks: TextQuirks): MessagesQuirks {
  return quirksOf<MessagesQuirks>(quirks, 'messages')
}
