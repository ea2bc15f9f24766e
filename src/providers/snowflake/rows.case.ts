import type { ProviderRows } from '../../../test/support/provider-rows.ts'

/** The rows of the shared tests for Snowflake. */
export const rows: ProviderRows = {
  withoutSdk: 'its documents show HTTP, and the SDKs of OpenAI and Anthropic',
}
