import type { ProviderRows } from '../../../test/support/provider-rows.ts'

/** The rows of the shared tests for Databricks. */
export const rows: ProviderRows = {
  withoutSdk: 'its documents name the SDK of OpenAI',
}
