import { UniqueViolation } from '../storage/database.ts'
import type { Database, SqlValue, Statement } from '../storage/database.ts'
import type { KeyRecord } from './key-record.ts'
import { insertKeyStatement } from './key-repository.ts'
import type { OrganizationChanges, OrganizationRecord } from './organization-record.ts'
import { parsePolicy, renderPolicy } from './policy.ts'
import { parseOrganizationRates, renderRates } from './rate-rules.ts'
import { parseColumn } from './stored-json.ts'
import { toRuleColumns, untilUndisturbed, type RuleColumns } from './stored-rules.ts'
import { insertDefaultWorkspace } from './workspace-repository.ts'

/** Owns the table `organizations`. */
export interface OrganizationRepository {
  /** Null when it does not exist or was deleted. */
  load(organizationId: string): Promise<OrganizationRecord | null>
  /** The oldest that still exists. */
  loadFirst(): Promise<OrganizationRecord | null>
  /** Creates it with its default workspace and its first keys, all or nothing. False when one with this id exists. */
  insertWithKeys(organization: OrganizationRecord, keys: readonly KeyRecord[]): Promise<boolean>
  /** Adds the keys whose secrets are not stored yet. */
  addKeys(keys: readonly KeyRecord[]): Promise<void>
  /**
   * The changed organization, or null when it does not exist or was deleted. Rejects with `invalid_request` for rules that
   * cannot be stored, and with `conflict` when concurrent requests keep changing the same rules.
   */
  update(organizationId: string, changes: OrganizationChanges): Promise<OrganizationRecord | null>
  /** Marks the organization as deleted; its rows stay for the books. */
  markDeleted(organizationId: string): Promise<boolean>
}

/** Makes other units with the same statement wait until this one has ended. */
export function lockOrganization(organizationId: string): Statement {
  return {
    sql: 'update organizations set created_at_ms = created_at_ms where organization_id = $1',
    params: [organizationId],
  }
}

/** Organizations in the given database. */
export function createOrganizationRepository(database: Database): OrganizationRepository {
  const loadRow = async (organizationId: string): Promise<OrganizationRow | null> => {
    const [row] = await database.query<OrganizationRow>(
      `select ${columns} from organizations where organization_id = $1 and deleted_at_ms is null`,
      [organizationId],
    )
    return row ?? null
  }
  return {
    async load(organizationId) {
      const row = await loadRow(organizationId)
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
          statements: [
            insertStatement(organization),
            insertDefaultWorkspace(organization.organizationId, organization.createdAtMs),
            ...keys.map((key) => insertKeyStatement(key)),
          ],
        })
        return true
      } catch (error) {
        if (error instanceof UniqueViolation && error.table === 'organizations') return false
        throw error
      }
    },
    async addKeys(keys) {
      const statements = keys.map((key) => insertKeyStatement(key, { onlyIf: 'absent' }))
      await database.commit({ name: 'add keys', statements })
    },
    update: (organizationId, changes) =>
      untilUndisturbed(async () => {
        const row = await loadRow(organizationId)
        if (!row) return null
        const assignments = toAssignments(changes, row)
        if (assignments.length === 0) return toRecord(row)
        const [rows] = await database.commit({
          name: 'update organization',
          statements: [updateStatement(row, assignments)],
        })
        const updated = rows?.[0]
        return updated ? toRecord(updated as unknown as OrganizationRow) : undefined
      }),
    async markDeleted(organizationId) {
      const [rows] = await database.commit({
        name: 'delete organization',
        statements: [
          {
            sql: `update organizations set deleted_at_ms = now_ms()
              where organization_id = $1 and deleted_at_ms is null returning organization_id`,
            params: [organizationId],
          },
        ],
      })
      return rows !== undefined && rows.length > 0
    },
  }
}

const columns =
  'organization_id, name, account_mode, is_filtered_model_catalog_enabled, policy_json, rate_json, created_at_ms'

interface OrganizationRow extends RuleColumns {
  organization_id: string
  name: string
  account_mode: 'prepaid' | 'tracked'
  is_filtered_model_catalog_enabled: number
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

function toAssignments(changes: OrganizationChanges, row: OrganizationRow): [string, SqlValue][] {
  const { accountMode, isFilteredModelCatalogEnabled: isFiltered, policy, rates } = changes
  const assignments: [string, SqlValue][] = []
  if (accountMode !== undefined) assignments.push(['account_mode', accountMode])
  if (isFiltered !== undefined) assignments.push(['is_filtered_model_catalog_enabled', isFiltered ? 1 : 0])
  if (policy || rates) assignments.push(...Object.entries(toRuleColumns(changes, toRecord(row))))
  return assignments
}

function updateStatement(row: OrganizationRow, assignments: readonly [string, SqlValue][]) {
  const sets = assignments.map(([column], index) => `${column} = $${index + 4}`)
  return {
    sql: `update organizations set ${sets.join(', ')}
      where organization_id = $1 and deleted_at_ms is null and policy_json = $2 and rate_json = $3
      returning ${columns}`,
    params: [row.organization_id, row.policy_json, row.rate_json, ...assignments.map(([, value]) => value)],
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
