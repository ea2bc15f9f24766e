import type { Database } from '../../storage/database.ts'
import type { ProcessReport } from './process-report.ts'

/** A process, as it last said itself. */
export interface ProcessState extends ProcessReport {
  ownerId: string
  startedAtMs: number
  /** When it said so, by the database's clock. */
  seenAtMs: number
}

/** What each process says of itself. All methods reject with `storage_unavailable`. */
export interface ProcessStateRepository {
  write(ownerId: string, startedAtMs: number, report: ProcessReport): Promise<void>
  remove(ownerIds: readonly string[]): Promise<void>
  /** Every process that has said something, and the database's clock. */
  list(): Promise<{ nowMs: number; processes: ProcessState[] }>
}

export function createProcessStateRepository(database: Database): ProcessStateRepository {
  return {
    async write(ownerId, startedAtMs, report) {
      const statement = {
        sql: `insert into process_states (owner_id, started_at_ms, seen_at_ms, state_json) values ($1, $2, now_ms(), $3)
          on conflict (owner_id) do update set seen_at_ms = excluded.seen_at_ms, state_json = excluded.state_json`,
        params: [ownerId, Math.floor(startedAtMs), JSON.stringify(report)],
      }
      await database.commit({ name: 'process_state.write', statements: [statement] })
    },
    async remove(ownerIds) {
      if (ownerIds.length === 0) return
      const places = ownerIds.map((_, index) => `$${index + 1}`).join(', ')
      const statement = { sql: `delete from process_states where owner_id in (${places})`, params: ownerIds }
      await database.commit({ name: 'process_state.remove', statements: [statement] })
    },
    async list() {
      const [clock] = await database.queryAside<{ now: number }>('select now_ms() as now')
      const rows = await database.queryAside<{
        owner_id: string
        started_at_ms: number
        seen_at_ms: number
        state_json: string
      }>('select owner_id, started_at_ms, seen_at_ms, state_json from process_states order by started_at_ms')
      const processes = rows.map((row) => ({
        ...(JSON.parse(row.state_json) as ProcessReport),
        ownerId: row.owner_id,
        startedAtMs: row.started_at_ms,
        seenAtMs: row.seen_at_ms,
      }))
      return { nowMs: clock?.now ?? 0, processes }
    },
  }
}
