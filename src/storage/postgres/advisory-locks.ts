import type { SQL } from 'bun'
import { SchemaOccupied } from '../database.ts'

/** Arbitrary numbers that nothing else in the database uses as an advisory lock. */
export const migrationLock = 7_236_147_001n
export const partitionLock = 7_236_147_002n

// A session with an advisory lock of this program, other than the two above, holds an owner id.
const occupantsSql = `select a.pid, host(a.client_addr) as address
  from pg_locks l join pg_stat_activity a on a.pid = l.pid
  where l.locktype = 'advisory' and l.granted and l.mode = 'ExclusiveLock' and l.objsubid = 1
    and l.database = (select oid from pg_database where datname = current_database())
    and a.application_name = 'headrace'
    and ((cast(l.classid as bigint) << 32) | cast(l.objid as bigint))
      not in (${migrationLock}, ${partitionLock}, hashtextextended($1, 0))
  order by a.pid`

/** Other processes that run on the database, in words. */
export async function listOccupants(sql: SQL, ownOwnerId: string): Promise<string[]> {
  const rows = await sql.unsafe<{ pid: number; address: string | null }[]>(occupantsSql, [ownOwnerId])
  return rows.map(({ pid, address }) => {
    const where = address === null ? "the server's own machine" : address
    return `a process on ${where} (PostgreSQL session ${pid})`
  })
}

/**
 * A check that throws `SchemaOccupied` while other processes run on the database. Owner locks must have been free for the
 * whole grace: a living process whose connection broke takes its lock again within that time.
 */
export function createOccupiedCheck(ownOwnerId: string, graceMs: number): (sql: SQL) => Promise<void> {
  let freeSinceMs: number | null = null
  return async (sql) => {
    const occupants = await listOccupants(sql, ownOwnerId)
    const nowMs = performance.now()
    freeSinceMs = occupants.length > 0 ? null : (freeSinceMs ?? nowMs)
    if (freeSinceMs === null || nowMs - freeSinceMs < graceMs) throw new SchemaOccupied(occupants)
  }
}
