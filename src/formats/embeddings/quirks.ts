import type { AddressSupport } from '../text/media/address-support.ts'
import { quirksOf, type TextQuirks } from '../text/codec.ts'
import type { TextInterface, TextPath } from '../text/text-interface.ts'

/** Where a provider differs from OpenAI's embeddings, as data. */
export interface EmbeddingsQuirkOptions {
  /** The provider's name for `dimensions`; null when it cannot be chosen. Default `dimensions`. */
  dimensionsField?: string | null
  /**
   * Whether the provider honours `encoding_format`, base64 included; otherwise the gateway asks for floats and encodes
   * them. Default false.
   */
  base64?: boolean
  /** Whether inputs may be token numbers. Default false: such a provider would embed them as something else. */
  tokenArrays?: boolean
  /** Whether inputs may be content of several modalities. Default false. */
  contentInputs?: boolean
  /**
   * Whether `input_type` is understood; as a table, the provider's words for it by the words of other providers. Default false.
   */
  inputType?: boolean | Readonly<Record<string, string>>
  /** Whether `user` is understood. Default false. */
  user?: boolean
  /** What happens to members that no format knows. Default `drop`. */
  unknownMembers?: 'forward' | 'drop'
  /**
   * Whether the provider sends vectors only as base64 of signed bytes; the scale of the bytes is not given. Default
   * false.
   */
  int8?: boolean
}

/** Options with their defaults. */
export interface EmbeddingsQuirks extends Required<EmbeddingsQuirkOptions> {
  format: 'embeddings'
  /** Inputs that name media by URL are passed on unchanged. */
  addresses: AddressSupport
}

/** Completes options with defaults. */
export function embeddingsQuirks(options: EmbeddingsQuirkOptions = {}): EmbeddingsQuirks {
  return {
    format: 'embeddings',
    addresses: { image: 'any', file: 'any' },
    dimensionsField: options.dimensionsField === undefined ? 'dimensions' : options.dimensionsField,
    base64: options.base64 ?? false,
    tokenArrays: options.tokenArrays ?? false,
    contentInputs: options.contentInputs ?? false,
    inputType: options.inputType ?? false,
    user: options.user ?? false,
    unknownMembers: options.unknownMembers ?? 'drop',
    int8: options.int8 ?? false,
  }
}

/** OpenAI's embeddings, with a provider's differences as data. */
export function openAiEmbeddings(
  options: EmbeddingsQuirkOptions = {},
  path: TextPath = '/embeddings',
): TextInterface<EmbeddingsQuirks> {
  return { format: 'embeddings', path, quirks: embeddingsQuirks(options) }
}

/** The quirks of a provider that has this format. */
export function asEmbeddings(quirks: TextQuirks): EmbeddingsQuirks {
  return quirksOf<EmbeddingsQuirks>(quirks, 'embeddings')
}
