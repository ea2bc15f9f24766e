import type { ProviderRows } from '../../../test/support/provider-rows.ts'

/** The rows of the shared tests for Cohere. */
export const rows: ProviderRows = {
  withoutSdk:
    'its SDK asks its own chat and embeddings, where the gateway asks the interface for OpenAI’s; their reranking is compared in test/contract/rerank.test.ts',
}
