import type { ProviderRows } from '../../../test/support/provider-rows.ts'

/** What the shared tests hold of Jina. */
export const rows: ProviderRows = {
  withoutSdk: 'it has none; its documents show HTTP',
}
