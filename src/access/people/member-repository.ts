import type { Role } from '../../canonical/principal.ts'
import {
  type Database,
  GuardFailed,
  type SqlValue,
  type Statement,
  UniqueViolation,
} from '../../storage/database.ts'
import type { KeyRecord } from '../key-record.ts'
import { insertKeyStatement } from '../key-repository.ts'
import { lockOrganization } from '../organization-repository.ts'
import type { MemberChanges, MemberRecord, SessionRecord } from './member-record.ts'
import { memberColumns, toMemberRecord, type MemberRow } from './member-row.ts'
import { endSessionsStatement, openSessionStatements } from './session-repository.ts'

/** A token of a link, as it is stored. */
export interface StoredLink {
  linkHash: string
  memberId: string
  createdAtMs: number
  expiresAtMs: number
}

/** A session to be opened. */
export interface NewSession {
  sessionHash: string
  session: SessionRecord
  /** The oldest moment of the last use of a session that is still open. */
  idleSinceMs: number
}

/** A person to be stored, with the hidden key. */
export interface NewMember {
  member: MemberRecord
  key: KeyRecord
}

/** A person who has a password. */
export interface PasswordHolder {
  member: MemberRecord
  passwordHash: string
}

/** Which people a list has. */
export interface MemberPage {
  organizationId: string
  /** Also those who were only invited, and the persons of management keys. */
  isWhole: boolean
  offset: number
  limit: number
}

/** Owns the tables `members` and `sign_in_links`. People who were removed are in no answer. */
export interface MemberRepository {
  load(memberId: string): Promise<MemberRecord | null>
  list(page: MemberPage): Promise<{ members: MemberRecord[]; total: number }>
  /** The oldest admin who has joined, else the oldest one; null without any. */
  loadFirstAdmin(organizationId: string): Promise<MemberRecord | null>
  /** Whether the organization ever had a person, besides those of management keys. */
  hasAny(organizationId: string): Promise<boolean>
  findByEmail(organizationId: string, email: string): Promise<MemberRecord | null>
  findByManagementKey(keyId: string): Promise<MemberRecord | null>
  /** People with this email and a password, of all organizations, the oldest first; at most `limit`. */
  findPasswordHolders(email: string, limit: number): Promise<PasswordHolder[]>
  passwordHashOf(memberId: string): Promise<string | null>
  /** Adds a person, with a link if there is one. False when the id, the email or the management key is taken. */
  insert(made: NewMember, link: StoredLink | null): Promise<boolean>
  /** Stores a link in the place of all others of its person. False when the person is gone. */
  replaceLink(link: StoredLink): Promise<boolean>
  /** The person of a link that still works. */
  findByLink(linkHash: string, nowMs: number): Promise<MemberRecord | null>
  /** Opens a session. With a link the link is used up; false when somebody else used it, or the person is gone. */
  openSession(opened: NewSession, linkHash: string | null): Promise<boolean>
  /** False when the email is taken, null when the person is gone. */
  update(memberId: string, changes: MemberChanges): Promise<boolean | null>
  /** Sets the password and ends all other sessions of the person. */
  setPassword(memberId: string, passwordHash: string, keptSessionId: string): Promise<void>
  /** False when that would leave the organization without an admin; null when the person is gone. */
  setRole(member: MemberRecord, role: Role): Promise<boolean | null>
  /** Removes a person, with sessions and links. The results of `setRole`. */
  remove(member: MemberRecord, nowMs: number): Promise<boolean | null>
}

/** People in the given database. */
export function createMemberRepository(database: Database): MemberRepository {
  const loadWhere = async (condition: string, params: SqlValue[]): Promise<MemberRecord | null> => {
    const [row] = await database.query<MemberRow>(
      `select ${memberColumns.join(', ')} from members where removed_at_ms is null and ${condition}`,
      params,
    )
    return row ? toMemberRecord(row) : null
  }
  return {
    load: (memberId) => loadWhere('member_id = $1', [memberId]),
    list: (page) => list(database, page),
    loadFirstAdmin: (organizationId) =>
      loadWhere(
        `organization_id = $1 and role = 'admin' and management_key_id is null
         order by case when joined_at_ms is null then 1 else 0 end, created_at_ms, member_id limit 1`,
        [organizationId],
      ),
    async hasAny(organizationId) {
      const rows = await database.query(
        'select 1 as found from members where organization_id = $1 and management_key_id is null limit 1',
        [organizationId],
      )
      return rows.length > 0
    },
    findByEmail: (organizationId, email) =>
      loadWhere('organization_id = $1 and email = $2', [organizationId, email]),
    findByManagementKey: (keyId) => loadWhere('management_key_id = $1', [keyId]),
    findPasswordHolders: (email, limit) => findPasswordHolders(database, email, limit),
    async passwordHashOf(memberId) {
      const [row] = await database.query<Pick<MemberRow, 'password_hash'>>(
        'select password_hash from members where member_id = $1 and removed_at_ms is null',
        [memberId],
      )
      return row?.password_hash ?? null
    },
    insert: (made, link) => insert(database, made, link),
    replaceLink: (link) => replaceLink(database, link),
    findByLink: (linkHash, nowMs) =>
      loadWhere(
        'member_id = (select member_id from sign_in_links where link_hash = $1 and expires_at_ms > $2)',
        [linkHash, nowMs],
      ),
    openSession: (opened, linkHash) => openSession(database, opened, linkHash),
    update: (memberId, changes) => update(database, memberId, changes),
    async setPassword(memberId, passwordHash, keptSessionId) {
      await database.commit({
        name: 'set password',
        statements: [
          {
            sql: 'update members set password_hash = $2 where member_id = $1 and removed_at_ms is null',
            params: [memberId, passwordHash],
          },
          endSessionsStatement(memberId, keptSessionId),
        ],
      })
    },
    setRole: (member, role) => setRole(database, member, role),
    remove: (member, nowMs) => remove(database, member, nowMs),
  }
}

function setRole(database: Database, member: MemberRecord, role: Role): Promise<boolean | null> {
  return unlessLastAdmin(database, member, {
    name: 'set role',
    // An admin who stays one leaves nobody without one.
    change: { sql: 'role = $3', value: role, isSafe: role === 'admin' },
  })
}

function remove(database: Database, member: MemberRecord, nowMs: number): Promise<boolean | null> {
  const { memberId } = member
  return unlessLastAdmin(database, member, {
    name: 'remove member',
    change: { sql: 'removed_at_ms = $3', value: nowMs, isSafe: false },
    also: [
      endSessionsStatement(memberId),
      { sql: 'delete from sign_in_links where member_id = $1', params: [memberId] },
    ],
  })
}

async function list(
  database: Database,
  { organizationId, isWhole, offset, limit }: MemberPage,
): Promise<{ members: MemberRecord[]; total: number }> {
  const which = `organization_id = $1 and removed_at_ms is null
    and ($2 = 1 or (joined_at_ms is not null and management_key_id is null))`
  const params = [organizationId, isWhole ? 1 : 0]
  const [counted] = await database.query<{ total: number }>(
    `select count(*) as total from members where ${which}`,
    params,
  )
  const rows = await database.query<MemberRow>(
    `select ${memberColumns.join(', ')} from members where ${which}
     order by created_at_ms, member_id limit $3 offset $4`,
    [...params, limit, offset],
  )
  return { members: rows.map(toMemberRecord), total: counted?.total ?? 0 }
}

async function findPasswordHolders(
  database: Database,
  email: string,
  limit: number,
): Promise<PasswordHolder[]> {
  const rows = await database.query<MemberRow>(
    `select ${memberColumns.join(', ')} from members
     where email = $1 and password_hash is not null and removed_at_ms is null
     order by created_at_ms, member_id limit $2`,
    [email, limit],
  )
  return rows.map((row) => ({ member: toMemberRecord(row), passwordHash: row.password_hash ?? '' }))
}

async function insert(
  database: Database,
  { member, key }: NewMember,
  link: StoredLink | null,
): Promise<boolean> {
  const columns = memberColumns.filter((column) => column !== 'password_hash')
  const statements: Statement[] = [
    insertKeyStatement(key, { memberId: member.memberId }),
    {
      sql: `insert into members (${columns.join(', ')}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
      params: [
        member.memberId,
        member.organizationId,
        member.email,
        member.firstName,
        member.lastName,
        member.role,
        member.keyId,
        member.managementKeyId,
        member.createdAtMs,
        member.joinedAtMs,
      ],
    },
  ]
  if (link !== null) statements.push(insertLinkStatement(link))
  try {
    await database.commit({ name: 'insert member', statements })
    return true
  } catch (error) {
    if (error instanceof UniqueViolation && error.table === 'members') return false
    throw error
  }
}

function insertLinkStatement({ linkHash, memberId, createdAtMs, expiresAtMs }: StoredLink): Statement {
  return {
    sql: 'insert into sign_in_links (link_hash, member_id, created_at_ms, expires_at_ms) values ($1, $2, $3, $4)',
    params: [linkHash, memberId, createdAtMs, expiresAtMs],
  }
}

async function replaceLink(database: Database, link: StoredLink): Promise<boolean> {
  return unlessGuarded(() =>
    database.commit({
      name: 'replace link',
      statements: [
        presentStatement(link.memberId),
        {
          sql: 'delete from sign_in_links where member_id = $1 or expires_at_ms <= $2',
          params: [link.memberId, link.createdAtMs],
        },
        insertLinkStatement(link),
      ],
    }),
  )
}

/** Fails the unit when the person is gone, and holds off a unit that removes the person. */
function presentStatement(memberId: string): Statement {
  return {
    sql: 'update members set key_id = key_id where member_id = $1 and removed_at_ms is null',
    params: [memberId],
    expect: 1,
    guard: 'present',
  }
}

async function openSession(
  database: Database,
  opened: NewSession,
  linkHash: string | null,
): Promise<boolean> {
  const { memberId, createdAtMs } = opened.session
  const use: Statement[] =
    linkHash === null
      ? []
      : [
          {
            sql: 'delete from sign_in_links where link_hash = $1 and member_id = $2 and expires_at_ms > $3 returning member_id',
            params: [linkHash, memberId, createdAtMs],
            expect: 1,
            guard: 'link',
          },
        ]
  return unlessGuarded(() =>
    database.commit({
      name: 'open session',
      statements: [
        ...use,
        {
          sql: `update members set joined_at_ms = coalesce(joined_at_ms, $2)
            where member_id = $1 and removed_at_ms is null`,
          params: [memberId, createdAtMs],
          expect: 1,
          guard: 'present',
        },
        ...openSessionStatements(opened, opened.idleSinceMs),
      ],
    }),
  )
}

/** Whether a unit was committed; false when one of its guards failed. */
async function unlessGuarded(commit: () => Promise<unknown>): Promise<boolean> {
  try {
    await commit()
    return true
  } catch (error) {
    if (error instanceof GuardFailed) return false
    throw error
  }
}

async function update(database: Database, memberId: string, changes: MemberChanges): Promise<boolean | null> {
  const given: [string, SqlValue][] = []
  if (changes.email !== undefined) given.push(['email', changes.email])
  if (changes.firstName !== undefined) given.push(['first_name', changes.firstName])
  if (changes.lastName !== undefined) given.push(['last_name', changes.lastName])
  if (given.length === 0) return true
  const sets = given.map(([column], index) => `${column} = $${index + 2}`)
  try {
    const [rows] = await database.commit({
      name: 'update member',
      statements: [
        {
          sql: `update members set ${sets.join(', ')} where member_id = $1 and removed_at_ms is null
            returning member_id`,
          params: [memberId, ...given.map(([, value]) => value)],
        },
      ],
    })
    return rows !== undefined && rows.length > 0 ? true : null
  } catch (error) {
    if (error instanceof UniqueViolation) return false
    throw error
  }
}

interface GuardedChange {
  name: string
  change: { sql: string; value: SqlValue; isSafe: boolean }
  also?: readonly Statement[]
}

/** Changes a person unless the organization would have no admin then who can sign in. */
async function unlessLastAdmin(
  database: Database,
  { memberId, organizationId }: MemberRecord,
  { name, change, also = [] }: GuardedChange,
): Promise<boolean | null> {
  const isKept = change.isSafe
    ? ''
    : `and (role <> 'admin' or joined_at_ms is null or exists (select 1 from members o
        where o.organization_id = $2 and o.member_id <> $1 and ${isSigningAdmin}))`
  try {
    await database.commit({
      name,
      statements: [
        // Two admins who remove each other at once wait for one another here.
        lockOrganization(organizationId),
        {
          sql: 'select member_id from members where member_id = $1 and organization_id = $2 and removed_at_ms is null and management_key_id is null',
          params: [memberId, organizationId],
          expect: 1,
          guard: 'present',
        },
        {
          sql: `update members set ${change.sql} where member_id = $1 and organization_id = $2
            and removed_at_ms is null ${isKept} returning member_id`,
          params: [memberId, organizationId, change.value],
          expect: 1,
          guard: 'admin',
        },
        ...also,
      ],
    })
    return true
  } catch (error) {
    if (!(error instanceof GuardFailed)) throw error
    return error.guard === 'present' ? null : false
  }
}

const isSigningAdmin = `o.role = 'admin' and o.joined_at_ms is not null and o.removed_at_ms is null
  and o.management_key_id is null`
