import type { ProviderRows } from '../../../test/support/provider-rows.ts'

/** The rows of the shared tests for SGLang. */
export const rows: ProviderRows = {
  addresses: [{ asked: 'messages', through: 'chat', address: 'http://localhost:30000/v1/chat/completions' }],
}
