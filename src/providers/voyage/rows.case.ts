import type { ProviderRows } from '../../../test/support/provider-rows.ts'

/** The rows of the shared tests for Voyage. */
export const rows: ProviderRows = {
  withoutSdk:
    'its SDK has embeddings and reranking alone; what it sends is compared in test/contract/rerank.test.ts',
}
