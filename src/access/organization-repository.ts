import { UniqueViolation } from '../storage/database.ts'
import type { Database } from '../storage/database.ts'
import type { KeyRecord } from './key-record.ts'
import { insertKeyStatement } from './key-repository.ts'
import type { OrganizationRecord } from './organization-record.ts'
import { parsePolicy, renderPolicy } from './policy.ts'
import { parseOrganizationRates, renderRates } from './rate-rules.ts'
import { parseColumn } from './stored-json.ts'

/** Owns the table `organizations`. */
export interface OrganizationRepository {
  /** Null when there is none, or no more. */
  load(organizationId: string): Promise<OrganizationRecord | null>
  /** The oldest that still exists. */
  loadFirst(): Promise<OrganizationRecord | null>
  /** Creates it with its first keys, all or nothing. False when one with this id exists. */
  insertWithKeys(organization: OrganizationRecord, keys: readonly KeyRecord[]): Promise<boolean>
  /** Adds keys whose secrets are not known yet. */
  addKeys(keys: readonly KeyRecord[]): Promise<void>
  /** Whether there was one to update. */
  updateSettings(
    organizationId: string,
    settings: { isFilteredModelCatalogEnabled: boolean },
  ): Promise<boolean>
  /** From now on the organization is gone; its rows stay for the books. */
  markDeleted(organizationId: string): Promise<boolean>
}

/** Organizations in the given database. */
export function createOrganizationRepository(database: Database): OrganizationRepository {
  const update = async (
    name: string,
    sql: string,
    params: readonly (string | number)[],
  ): Promise<boolean> => {
    const [rows] = await database.commit({ name, statements: [{ sql, params }] })
    return rows !== undefined && rows.length > 0
  }
  return {
    async load(organizationId) {
      const [row] = await database.query<OrganizationRow>(
        `select ${columns} from organizations where organization_id = $1 and deleted_at_ms is null`,
        [organizationId],
      )
      return row ? toRecord(row) : null
    },
    async loadFirst() {
      const [row] = await database.query<OrganizationRow>(
        `select ${columns} from organizations where deleted_at_ms is null order by created_at_ms, organization_id limit 1`,
      )
      return row ? toRecord(row) : null
    },
    async insertWithKeys(organization, keys) {
      try {
        await database.commit({
          name: 'insert organization',
          statements: [insertStatement(organization), ...keys.map((key) => insertKeyStatement(key))],
        })
        return true
      } catch (error) {
        if (error instanceof UniqueViolation && error.table === 'organizations') return false
        throw error
      }
    },
    async addKeys(keys) {
      const statements = keys.map((key) => insertKeyStatement(key, { ifAbsent: true }))
      await database.commit({ name: 'add keys', statements })
    },
    updateSettings: (organizationId, { isFilteredModelCatalogEnabled }) =>
      update(
        'update organization settings',
        `update organizations set is_filtered_model_catalog_enabled = $2
         where organization_id = $1 and deleted_at_ms is null returning organization_id`,
        [organizationId, isFilteredModelCatalogEnabled ? 1 : 0],
      ),
    markDeleted: (organizationId) =>
      update(
        'delete organization',
        `update organizations set deleted_at_ms = now_ms()
         where organization_id = $1 and deleted_at_ms is null returning organization_id`,
        [organizationId],
      ),
  }
}

const columns =
  'organization_id, name, account_mode, is_filtered_model_catalog_enabled, policy_json, rate_json, created_at_ms'

interface OrganizationRow {
  organization_id: string
  name: string
  account_mode: 'prepaid' | 'tracked'
  is_filtered_model_catalog_enabled: number
  policy_json: string
  rate_json: string
  created_at_ms: number
}

function insertStatement(organization: OrganizationRecord) {
  return {
    sql: `insert into organizations (${columns}) values ($1, $2, $3, $4, $5, $6, $7)`,
    params: [
      organization.organizationId,
      organization.name,
      organization.accountMode,
      organization.isFilteredModelCatalogEnabled ? 1 : 0,
      renderPolicy(organization.policy),
      renderRates(organization.rates),
      organization.createdAtMs,
    ],
  }
}

function toRecord(row: OrganizationRow): OrganizationRecord {
  return {
    organizationId: row.organization_id,
    name: row.name,
    accountMode: row.account_mode,
    isFilteredModelCatalogEnabled: row.is_filtered_model_catalog_enabled !== 0,
    policy: parseColumn(row.policy_json, 'organizations.policy_json', parsePolicy),
    rates: parseColumn(row.rate_json, 'organizations.rate_json', parseOrganizationRates),
    createdAtMs: row.created_at_ms,
  }
}
