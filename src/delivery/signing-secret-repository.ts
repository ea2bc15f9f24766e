import type { Database } from '../storage/database.ts'
import { deliveryCommitPoints } from './delivery-commit-points.ts'

/** Owns the table `signing_secrets`: one sealed secret an organization. */
export interface SigningSecretRepository {
  load(organizationId: string): Promise<string | null>
  /** Stores it unless the organization has one. */
  insert(organizationId: string, sealed: string): Promise<void>
  replace(organizationId: string, sealed: string): Promise<void>
}

export function createSigningSecretRepository(database: Database): SigningSecretRepository {
  const write = async (organizationId: string, sealed: string, onConflict: string): Promise<void> => {
    await database.commit({
      name: deliveryCommitPoints.secret,
      statements: [
        {
          sql: `insert into signing_secrets (organization_id, sealed, created_at_ms) values ($1, $2, now_ms())
            on conflict (organization_id) do ${onConflict}`,
          params: [organizationId, sealed],
        },
      ],
    })
  }
  return {
    async load(organizationId) {
      const [row] = await database.query<{ sealed: string }>(
        'select sealed from signing_secrets where organization_id = $1',
        [organizationId],
      )
      return row?.sealed ?? null
    },
    insert: (organizationId, sealed) => write(organizationId, sealed, 'nothing'),
    replace: (organizationId, sealed) =>
      write(
        organizationId,
        sealed,
        'update set sealed = excluded.sealed, created_at_ms = excluded.created_at_ms',
      ),
  }
}
