import type { Database, Statement } from '../../storage/database.ts'
import type { MemberRecord, OpenedBy, SessionRecord } from './member-record.ts'
import { memberColumns, toMemberRecord, type MemberRow } from './member-row.ts'

/** The oldest moments at which a session may have been opened and used to be open still. */
export interface SessionAge {
  nowMs: number
  idleSinceMs: number
}

/** A session with its person. */
export interface LoadedSession {
  session: SessionRecord
  member: MemberRecord
}

/** Which sessions a list has. */
export interface SessionPage extends SessionAge {
  organizationId: string
  /** Null for everybody's. */
  memberId: string | null
  offset: number
  limit: number
}

/** Owns the table `sessions`. */
export interface SessionRepository {
  /** An open session by the hash of its secret; null also when its person was removed. */
  loadByHash(sessionHash: string, age: SessionAge): Promise<LoadedSession | null>
  /** Records that a session was used. */
  touch(sessionId: string, nowMs: number): Promise<void>
  /** Open sessions of an organization, the latest used first. */
  list(page: SessionPage): Promise<LoadedSession[]>
  /** Ends a session; false when there was none. With `memberId` only one of this person. */
  end(named: { organizationId: string; sessionId: string; memberId: string | null }): Promise<boolean>
  /** Ends all sessions of a person; the number of those that were open. */
  endAll(named: { organizationId: string; memberId: string }): Promise<number>
}

/** Sessions in the given database. */
export function createSessionRepository(database: Database): SessionRepository {
  return {
    async loadByHash(sessionHash, { nowMs, idleSinceMs }) {
      const [row] = await database.query<LoadedRow>(
        `${loadSql} where s.session_hash = $1 and ${isOpen('$2', '$3')}`,
        [sessionHash, nowMs, idleSinceMs],
      )
      return row ? toLoadedSession(row) : null
    },
    async touch(sessionId, nowMs) {
      await database.commit({
        name: 'touch session',
        statements: [
          {
            sql: 'update sessions set last_used_at_ms = $2 where session_id = $1 and last_used_at_ms < $2',
            params: [sessionId, nowMs],
          },
        ],
      })
    },
    async list({ organizationId, memberId, nowMs, idleSinceMs, offset, limit }) {
      const rows = await database.query<LoadedRow>(
        `${loadSql} where m.organization_id = $1 and ${isOpen('$2', '$3')}
           and (cast($4 as text) is null or m.member_id = $4)
         order by s.last_used_at_ms desc, s.session_id limit $5 offset $6`,
        [organizationId, nowMs, idleSinceMs, memberId, limit, offset],
      )
      return rows.map(toLoadedSession)
    },
    async end({ organizationId, sessionId, memberId }) {
      const [rows] = await database.commit({
        name: 'end session',
        statements: [
          {
            sql: `delete from sessions where session_id = $1 and ${memberOf('$2')}
              and (cast($3 as text) is null or member_id = $3) returning session_id`,
            params: [sessionId, organizationId, memberId],
          },
        ],
      })
      return rows !== undefined && rows.length > 0
    },
    async endAll({ organizationId, memberId }) {
      const [rows] = await database.commit({
        name: 'end sessions',
        statements: [
          {
            sql: `delete from sessions where member_id = $1 and ${memberOf('$2')} returning session_id`,
            params: [memberId, organizationId],
          },
        ],
      })
      return rows?.length ?? 0
    },
  }
}

/** Ends the sessions of a person, except one if it is named; for a unit that also changes the person. */
export function endSessionsStatement(memberId: string, keptSessionId: string | null = null): Statement {
  return {
    sql: 'delete from sessions where member_id = $1 and (cast($2 as text) is null or session_id <> $2)',
    params: [memberId, keptSessionId],
  }
}

/** What opens a session, and forgets those that have ended by themselves. */
export function openSessionStatements(
  { sessionHash, session }: { sessionHash: string; session: SessionRecord },
  idleSinceMs: number,
): Statement[] {
  return [
    {
      sql: 'delete from sessions where last_used_at_ms <= $1 or expires_at_ms <= $2',
      params: [idleSinceMs, session.createdAtMs],
    },
    {
      sql: `insert into sessions (session_hash, ${sessionColumns.join(', ')})
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
      params: [
        sessionHash,
        session.sessionId,
        session.memberId,
        session.openedBy,
        session.managementKeyId,
        session.userAgent,
        session.address,
        session.createdAtMs,
        session.lastUsedAtMs,
        session.expiresAtMs,
      ],
    },
  ]
}

const sessionColumns = [
  'session_id',
  'member_id',
  'opened_by',
  'management_key_id',
  'user_agent',
  'address',
  'created_at_ms',
  'last_used_at_ms',
  'expires_at_ms',
] as const

const loadSql = `select ${memberColumns.map((column) => `m.${column}`).join(', ')},
  s.session_id, s.opened_by, s.management_key_id as session_key_id, s.user_agent, s.address,
  s.created_at_ms as opened_at_ms, s.last_used_at_ms, s.expires_at_ms
  from sessions s join members m on m.member_id = s.member_id`

function isOpen(now: string, idleSince: string): string {
  return `s.expires_at_ms > ${now} and s.last_used_at_ms > ${idleSince} and m.removed_at_ms is null`
}

function memberOf(organizationId: string): string {
  return `member_id in (select member_id from members where organization_id = ${organizationId})`
}

interface LoadedRow extends MemberRow {
  session_id: string
  opened_by: OpenedBy
  session_key_id: string | null
  user_agent: string | null
  address: string
  opened_at_ms: number
  last_used_at_ms: number
  expires_at_ms: number
}

function toLoadedSession(row: LoadedRow): LoadedSession {
  return {
    member: toMemberRecord(row),
    session: {
      sessionId: row.session_id,
      memberId: row.member_id,
      openedBy: row.opened_by,
      managementKeyId: row.session_key_id,
      userAgent: row.user_agent,
      address: row.address,
      createdAtMs: row.opened_at_ms,
      lastUsedAtMs: row.last_used_at_ms,
      expiresAtMs: row.expires_at_ms,
    },
  }
}
