import type { ProviderRows } from '../../../test/support/provider-rows.ts'

/** What the shared tests hold of SGLang. */
export const rows: ProviderRows = {
  addresses: [{ asked: 'messages', through: 'chat', address: 'http://localhost:30000/v1/chat/completions' }],
}
