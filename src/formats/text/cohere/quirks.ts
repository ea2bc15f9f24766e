import { quirksOf, type TextQuirks } from '../codec.ts'
import type { TextInterface, TextPath } from '../text-interface.ts'
import type { AddressSupport } from '../media/address-support.ts'

/** The members of the format that a model takes. */
export interface CohereModel {
  /** Whether it thinks, and can be told how much or not to. */
  canThink: boolean
  hasImages: boolean
  hasTools: boolean
}

/** Where a provider with Cohere's chat differs, as data. */
export interface CohereQuirkOptions {
  /** Default true: no other provider has the format. */
  isMaker?: boolean
  modelOf?: (upstreamModel: string) => CohereModel
  /** Default: it fetches pictures, and no documents. */
  addresses?: AddressSupport
}

/** Options with their defaults. */
export interface CohereQuirks extends Required<CohereQuirkOptions> {
  format: 'cohere'
}

/** Completes options with defaults. */
export function cohereQuirks(options: CohereQuirkOptions = {}): CohereQuirks {
  return {
    format: 'cohere',
    isMaker: options.isMaker ?? true,
    modelOf: options.modelOf ?? (() => ({ canThink: false, hasImages: false, hasTools: true })),
    addresses: options.addresses ?? { image: 'https', file: 'none' },
  }
}

/** Cohere's chat in its second version, with what its models take as data. */
export function cohereChat(
  options: CohereQuirkOptions = {},
  path: TextPath = '/v2/chat',
): TextInterface<CohereQuirks> {
  return { format: 'cohere', path, quirks: cohereQuirks(options) }
}

/** Cohere's embeddings, at most 96 texts at once. */
export function cohereEmbeddings(path: TextPath = '/v2/embed'): TextInterface<CohereQuirks> {
  return cohereChat({}, path)
}

/** The quirks of a provider that has this format. */
export function asCohere(quirks: TextQuirks): CohereQuirks {
  return quirksOf<CohereQuirks>(quirks, 'cohere')
}
