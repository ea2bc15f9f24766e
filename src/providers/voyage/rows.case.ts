import type { ProviderRows } from '../../../test/support/provider-rows.ts'

/** What the shared tests hold of Voyage. */
export const rows: ProviderRows = {
  withoutSdk:
    'its SDK has embeddings and reranking alone; what it sends is compared in test/contract/rerank.test.ts',
}
