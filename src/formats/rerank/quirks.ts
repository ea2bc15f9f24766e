import type { TextInterface, TextPath } from '../text/text-interface.ts'
import type { OwnQuirks } from '../text/codec.ts'
import { rerankCodec, type RerankOptions } from './rerank-codec.ts'

/** Reranking after Cohere's API, version 2, which most providers follow, with a provider's differences as data. */
export function openRerank(options: RerankOptions = {}, path: TextPath = '/rerank'): TextInterface {
  const quirks: OwnQuirks = {
    format: 'rerank',
    addresses: { image: 'any', file: 'any' },
    codec: rerankCodec({
      documentsField: 'documents',
      limitField: 'top_n',
      cutField: null,
      documentsMax: null,
      documentObjects: false,
      namesModel: true,
      members: {},
      unknownMembers: 'drop',
      ...options,
    }),
  }
  return { format: 'rerank', path, quirks }
}
