import type { Policy, Rates } from '../canonical/principal.ts'
import type { MemberId, WorkspaceId } from '../core/ids.ts'
import type { Database, SqlValue, Statement } from '../storage/database.ts'
import type { KeyChanges, KeyRecord } from './key-record.ts'
import { parsePolicy, renderPolicy } from './policy.ts'
import { parseOrganizationRates, parseRates, renderRates } from './rate-rules.ts'
import { parseColumn } from './stored-json.ts'
import { toRuleColumns, untilUndisturbed, type RuleColumns } from './stored-rules.ts'
import { defaultWorkspaceOf } from './workspace-repository.ts'

/** A key, with the settings of its organization that count for it. */
export interface LoadedKey {
  key: KeyRecord
  workspaceId: WorkspaceId
  memberId: MemberId | null
  organization: {
    accountMode: 'prepaid' | 'tracked'
    isFilteredModelCatalogEnabled: boolean
    policy: Policy
    rates: Rates
    isDeleted: boolean
  }
}

/** A new secret that replaces a key's present one. */
export interface NewSecret {
  keyHash: string
  /** The secret with its middle hidden. */
  label: string
  /** Until when the present secret goes on working, in epoch milliseconds. Null ends it and all earlier ones now. */
  formerUntilMs: number | null
}

/** A key with its new secret, and the hashes of the former secrets that ended. */
export interface RotatedKey {
  key: KeyRecord
  endedHashes: readonly string[]
}

/** Hashes of imported secrets. */
export interface ImportedHashes {
  present: ReadonlySet<string>
  /** The key was given another secret, or was deleted. */
  former: ReadonlySet<string>
}

/** Owns the tables `api_keys`, `former_secrets` and `imported_keys`. */
export interface KeyRepository {
  /** The key with this hash and its organization, or null. When the hash is of a former secret, the key's end is that secret's end. */
  loadByHash(keyHash: string): Promise<LoadedKey | null>
  loadById(keyId: string): Promise<LoadedKey | null>
  /** An organization's keys, oldest first; without those of kind `playground`. */
  list(organizationId: string, page: KeyPage): Promise<KeyRecord[]>
  /** Rejects with UniqueViolation when the secret or the id is taken. */
  insert(key: KeyRecord): Promise<void>
  /**
   * Inserts, in one unit, the keys whose hash is not stored and was never imported, and returns their hashes. Remembers all
   * of these hashes as imported.
   */
  insertAbsent(keys: readonly KeyRecord[]): Promise<ReadonlySet<string>>
  /** Which of these hashes are of a key's present secret, and which were imported once and are of no key now. */
  findImported(keyHashes: readonly string[]): Promise<ImportedHashes>
  /**
   * The changed key, or null when the organization has no key with this hash. Rejects with `invalid_request` for rules
   * that cannot be stored, and with `conflict` when concurrent requests keep changing the same rules.
   */
  update(organizationId: string, keyHash: string, changes: KeyChanges): Promise<KeyRecord | null>
  /** Replaces the key's secret. Its id stays, and so do its limits and its usage. Null when there is no such key. */
  rotate(organizationId: string, keyHash: string, secret: NewSecret): Promise<RotatedKey | null>
  /** Deletes a key and its former secrets; false when there was none. */
  delete(organizationId: string, keyHash: string): Promise<boolean>
}

/** A part of a list of keys. */
export interface KeyPage {
  offset: number
  limit: number
  includeDisabled: boolean
  kind?: KeyRecord['kind'] | 'all'
}

/** Keys in the given database. The caller checks `limit` and `offset`. */
export function createKeyRepository(database: Database): KeyRepository {
  return {
    async loadByHash(keyHash) {
      const current = await loadWhere(database, 'k.key_hash = $1', keyHash)
      return current ?? loadByFormer(database, keyHash)
    },
    loadById: (keyId) => loadWhere(database, 'k.key_id = $1', keyId),
    async list(organizationId, { offset, limit, includeDisabled, kind = 'all' }) {
      const rows = await database.query<KeyRow>(
        `select ${columns.join(', ')} from api_keys where organization_id = $1 and disabled <= $2
           and kind <> 'playground' and ($3 = 'all' or kind = $3)
         order by created_at_ms, key_id limit $4 offset $5`,
        [organizationId, includeDisabled ? 1 : 0, kind, limit, offset],
      )
      return rows.map(toKeyRecord)
    },
    async insert(key) {
      await database.commit({ name: 'insert key', statements: [insertKeyStatement(key)] })
    },
    insertAbsent: (keys) => insertAbsent(database, keys),
    findImported: (keyHashes) => findImported(database, keyHashes),
    update: (organizationId, keyHash, changes) =>
      untilUndisturbed(async () => {
        const [before] = await database.query<KeyRow>(
          `select ${columns.join(', ')} from api_keys where organization_id = $1 and key_hash = $2`,
          [organizationId, keyHash],
        )
        if (!before) return null
        const [rows] = await database.commit({
          name: 'update key',
          statements: [updateStatement(before, toAssignments(changes, before))],
        })
        const row = rows?.[0]
        return row ? toKeyRecord(row as unknown as KeyRow) : undefined
      }),
    rotate: (organizationId, keyHash, secret) => rotate(database, { organizationId, keyHash, secret }),
    async delete(organizationId, keyHash) {
      const [, rows] = await database.commit({
        name: 'delete key',
        statements: [
          {
            sql: `delete from former_secrets where key_id in
              (select key_id from api_keys where organization_id = $1 and key_hash = $2 and kind <> 'playground')`,
            params: [organizationId, keyHash],
          },
          {
            sql: `delete from api_keys where organization_id = $1 and key_hash = $2 and kind <> 'playground'
              returning key_id`,
            params: [organizationId, keyHash],
          },
        ],
      })
      return rows !== undefined && rows.length > 0
    },
  }
}

async function insertAbsent(database: Database, keys: readonly KeyRecord[]): Promise<ReadonlySet<string>> {
  if (keys.length === 0) return new Set()
  const statements = keys.flatMap((key) => {
    const { sql, params } = insertKeyStatement(key, { onlyIf: 'neverImported' })
    return [
      { sql: `${sql} returning key_hash`, params },
      {
        sql: 'insert into imported_keys (key_hash) values ($1) on conflict (key_hash) do nothing',
        params: [key.keyHash],
      },
    ]
  })
  const inserted = await database.commit({ name: 'adopt keys', statements })
  return new Set(inserted.flat().map((row) => String(row['key_hash'])))
}

async function findImported(database: Database, keyHashes: readonly string[]): Promise<ImportedHashes> {
  if (keyHashes.length === 0) return { present: new Set(), former: new Set() }
  const places = keyHashes.map((_, index) => `$${index + 1}`).join(', ')
  const hashesIn = async (table: 'imported_keys' | 'api_keys') => {
    const sql = `select key_hash from ${table} where key_hash in (${places})`
    const rows = await database.query<{ key_hash: string }>(sql, [...keyHashes])
    return new Set(rows.map((row) => row.key_hash))
  }
  const imported = await hashesIn('imported_keys')
  const present = await hashesIn('api_keys')
  return { present, former: imported.difference(present) }
}

/** The key that had this secret before; its end is the secret's end. Null for an unknown secret or one that has ended. */
async function loadByFormer(database: Database, keyHash: string): Promise<LoadedKey | null> {
  const [former] = await database.query<{ key_id: string; until_ms: number }>(
    'select key_id, until_ms from former_secrets where key_hash = $1 and until_ms > now_ms()',
    [keyHash],
  )
  const loaded = former ? await loadWhere(database, 'k.key_id = $1', former.key_id) : null
  if (!former || !loaded) return null
  const { expiresAtMs } = loaded.key
  const untilMs = expiresAtMs === null ? former.until_ms : Math.min(expiresAtMs, former.until_ms)
  return { ...loaded, key: { ...loaded.key, keyHash, expiresAtMs: untilMs } }
}

async function loadWhere(database: Database, condition: string, value: string): Promise<LoadedKey | null> {
  const [row] = await database.query<LoadedRow>(`${loadSql} where ${condition}`, [value])
  return row ? toLoadedKey(row) : null
}

async function rotate(
  database: Database,
  { organizationId, keyHash, secret }: { organizationId: string; keyHash: string; secret: NewSecret },
): Promise<RotatedKey | null> {
  const [rows, ended = []] = await database.commit({
    name: 'rotate key',
    statements: [
      {
        sql: `update api_keys set key_hash = $3, label = $4, updated_at_ms = now_ms()
          where organization_id = $1 and key_hash = $2 and kind <> 'playground' returning ${columns.join(', ')}`,
        params: [organizationId, keyHash, secret.keyHash, secret.label],
      },
      {
        sql: `delete from former_secrets where until_ms <= now_ms()
          or (cast($2 as bigint) is null and key_id = (select key_id from api_keys where key_hash = $1))
          returning key_hash`,
        params: [secret.keyHash, secret.formerUntilMs],
      },
      {
        sql: `insert into former_secrets (key_hash, key_id, until_ms)
          select $1, key_id, $3 from api_keys where key_hash = $2 and cast($3 as bigint) is not null`,
        params: [keyHash, secret.keyHash, secret.formerUntilMs],
      },
    ],
  })
  const row = rows?.[0]
  return row
    ? {
        key: toKeyRecord(row as unknown as KeyRow),
        endedHashes: ended.map(({ key_hash: hash }) => String(hash)),
      }
    : null
}

/**
 * Inserts a key into its organization's default workspace, for a unit that also creates the organization. With `onlyIf`
 * nothing happens when the hash is stored, or when it is stored or was imported before.
 */
export function insertKeyStatement(
  key: KeyRecord,
  { onlyIf, memberId = null }: { onlyIf?: 'absent' | 'neverImported'; memberId?: MemberId | null } = {},
): Statement & { params: readonly SqlValue[] } {
  const values = `${columns.map((_, index) => `$${index + 1}`).join(', ')}, ${defaultWorkspaceOf('$3')}, $${columns.length + 1}`
  const rows =
    onlyIf === 'neverImported'
      ? `select ${values} where not exists (select 1 from imported_keys where key_hash = $1)`
      : `values (${values})`
  return {
    sql: `insert into api_keys (${columns.join(', ')}, workspace_id, member_id)
      ${rows}${onlyIf === undefined ? '' : ' on conflict (key_hash) do nothing'}`,
    params: [
      key.keyHash,
      key.keyId,
      key.organizationId,
      key.kind,
      key.name,
      key.label,
      key.disabled ? 1 : 0,
      key.limitNanocredits,
      key.limitReset,
      key.limitSinceMs,
      renderPolicy(key.policy),
      renderRates(key.rates),
      key.expiresAtMs,
      key.createdAtMs,
      key.updatedAtMs,
      memberId,
    ],
  }
}

const columns = [
  'key_hash',
  'key_id',
  'organization_id',
  'kind',
  'name',
  'label',
  'disabled',
  'limit_nanocredits',
  'limit_reset',
  'limit_since_ms',
  'policy_json',
  'rate_json',
  'expires_at_ms',
  'created_at_ms',
  'updated_at_ms',
] as const

// A left join: if an organization's row was removed by hand, its key must be refused because the organization is gone,
// not because the key is unknown.
const loadSql = `select ${columns.map((column) => `k.${column}`).join(', ')}, k.workspace_id, k.member_id,
  o.organization_id as found_organization_id, o.account_mode, o.is_filtered_model_catalog_enabled,
  o.policy_json as organization_policy_json, o.rate_json as organization_rate_json, o.deleted_at_ms
  from api_keys k left join organizations o on o.organization_id = k.organization_id`

interface KeyRow extends RuleColumns {
  key_hash: string
  key_id: string
  organization_id: string
  kind: KeyRecord['kind']
  name: string
  label: string
  disabled: number
  limit_nanocredits: bigint | null
  limit_reset: KeyRecord['limitReset']
  limit_since_ms: number
  expires_at_ms: number | null
  created_at_ms: number
  updated_at_ms: number | null
}

/** The organization's columns are null when its row is gone. */
interface LoadedRow extends KeyRow {
  workspace_id: string
  member_id: string | null
  found_organization_id: string | null
  account_mode: 'prepaid' | 'tracked' | null
  is_filtered_model_catalog_enabled: number | null
  organization_policy_json: string | null
  organization_rate_json: string | null
  deleted_at_ms: number | null
}

function toKeyRecord(row: KeyRow): KeyRecord {
  return {
    keyHash: row.key_hash,
    keyId: row.key_id,
    organizationId: row.organization_id,
    kind: row.kind,
    name: row.name,
    label: row.label,
    disabled: row.disabled !== 0,
    limitNanocredits: row.limit_nanocredits,
    limitReset: row.limit_reset,
    limitSinceMs: row.limit_since_ms,
    policy: parseColumn(row.policy_json, 'api_keys.policy_json', parsePolicy),
    rates: parseColumn(row.rate_json, 'api_keys.rate_json', (value) => parseRates(value)),
    expiresAtMs: row.expires_at_ms,
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
  }
}

function toLoadedKey(row: LoadedRow): LoadedKey {
  return {
    key: toKeyRecord(row),
    workspaceId: row.workspace_id,
    memberId: row.member_id,
    organization: {
      // The organization is gone, so only its status counts. These values allow nothing.
      accountMode: row.account_mode ?? 'prepaid',
      isFilteredModelCatalogEnabled: (row.is_filtered_model_catalog_enabled ?? 0) !== 0,
      policy: parseColumn(row.organization_policy_json ?? '{}', 'organizations.policy_json', parsePolicy),
      rates: parseColumn(
        row.organization_rate_json ?? '{}',
        'organizations.rate_json',
        parseOrganizationRates,
      ),
      isDeleted: row.found_organization_id === null || row.deleted_at_ms !== null,
    },
  }
}

function updateStatement(before: KeyRow, assignments: readonly [string, SqlValue][]): Statement {
  const sets = assignments.map(([column], index) => `${column} = $${index + 4}`)
  // The statement compares with the row, not with what was read before: another request may have changed the limit meanwhile.
  const restarts = assignments.flatMap(([column], index) => limitRestart(column, `$${index + 4}`))
  if (restarts.length > 0)
    sets.push(`limit_since_ms = case when ${restarts.join(' or ')} then now_ms() else limit_since_ms end`)
  return {
    sql: `update api_keys set ${[...sets, 'updated_at_ms = now_ms()'].join(', ')}
      where key_hash = $1 and policy_json = $2 and rate_json = $3 returning ${columns.join(', ')}`,
    params: [before.key_hash, before.policy_json, before.rate_json, ...assignments.map(([, value]) => value)],
  }
}

/** SQL for whether a column's new value starts the limit anew: setting, removing or resetting differently does, a new amount does not. */
function limitRestart(column: string, parameter: string): readonly string[] {
  if (column === 'limit_reset')
    return [`coalesce(limit_reset, '') <> coalesce(cast(${parameter} as text), '')`]
  if (column !== 'limit_nanocredits') return []
  return [`(limit_nanocredits is null) <> (cast(${parameter} as bigint) is null)`]
}

function toAssignments(changes: KeyChanges, before: KeyRow): [string, SqlValue][] {
  const assignments: [string, SqlValue][] = []
  if (changes.name !== undefined) assignments.push(['name', changes.name])
  if (changes.disabled !== undefined) assignments.push(['disabled', changes.disabled ? 1 : 0])
  if (changes.limitNanocredits !== undefined)
    assignments.push(['limit_nanocredits', changes.limitNanocredits])
  if (changes.limitReset !== undefined) assignments.push(['limit_reset', changes.limitReset])
  if (changes.expiresAtMs !== undefined) assignments.push(['expires_at_ms', changes.expiresAtMs])
  if (changes.policy || changes.rates) {
    assignments.push(...Object.entries(toRuleColumns(changes, toKeyRecord(before))))
  }
  return assignments
}
