import { GatewayError } from '../core/errors.ts'
import type { OrganizationRecord } from './organization-record.ts'
import type { OrganizationRepository } from './organization-repository.ts'

/** Organizations and their settings. */
export interface Organizations {
  /** Null when it does not exist or was deleted. Rejects with `settings_unavailable` when storage cannot answer. */
  load(organizationId: string): Promise<OrganizationRecord | null>
  /** Rejects with `not_found` when it no longer exists, and with `settings_unavailable`. */
  updateSettings(organizationId: string, settings: { isFilteredModelCatalogEnabled: boolean }): Promise<void>
}

/** What organizations need; `onChange` gets the id of every organization that changed. */
export interface OrganizationsOptions {
  repository: OrganizationRepository
  onChange: (organizationId: string) => void
}

/** A change is seen by this process at once and by others within two seconds. */
export function createOrganizations({ repository, onChange }: OrganizationsOptions): Organizations {
  return {
    load: (organizationId) => withSettingsError(() => repository.load(organizationId)),
    async updateSettings(organizationId, settings) {
      const changed = await withSettingsError(() => repository.update(organizationId, settings))
      if (!changed) throw new GatewayError('not_found', 'The organization of this key no longer exists.')
      onChange(organizationId)
    },
  }
}

/** By the contract a storage failure here is a 500; every other route answers it with a 503. */
async function withSettingsError<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    if (!(error instanceof GatewayError) || error.type !== 'storage_unavailable') throw error
    throw new GatewayError(
      'settings_unavailable',
      'Settings cannot be read or changed right now. Try again shortly.',
      {
        cause: error,
        retryAfterSeconds: 1,
      },
    )
  }
}
