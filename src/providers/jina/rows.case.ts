import type { ProviderRows } from '../../../test/support/provider-rows.ts'

/** The rows of the shared tests for Jina. */
export const rows: ProviderRows = {
  withoutSdk: 'it has none; its documents show HTTP',
}
