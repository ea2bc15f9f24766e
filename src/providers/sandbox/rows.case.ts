import type { ProviderRows } from '../../../test/support/provider-rows.ts'

/** The rows of the shared tests for Sandbox. */
export const rows: ProviderRows = {
  withoutSdk: 'is the simulator',
}
