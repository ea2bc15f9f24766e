import type { ProviderRows } from '../../../test/support/provider-rows.ts'

/** What the shared tests hold of Sandbox. */
export const rows: ProviderRows = {
  withoutSdk: 'is the simulator',
}
