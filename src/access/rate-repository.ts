import type { Database } from '../storage/database.ts'

/** The database's decision about one request. */
export interface RateDecision {
  isAllowed: boolean
  /** Milliseconds until a request would be allowed; 0 when this one was. */
  waitMs: number
}

/** How many requests a process has had under a limit lately. */
export interface RateUse {
  limitId: string
  /** Requests since its last report. */
  count: number
}

/** Owns the table `rate_windows`: arrival times of small limits (`gcra:…`), and reported counts of large ones (`use:…`). */
export interface RateRepository {
  /** Uses one of `perMinute` by the database's clock; up to a minute's worth may come at once. */
  take(limitId: string, perMinute: number): Promise<RateDecision>
  /** What `take` would decide now; uses nothing. */
  look(limitId: string, perMinute: number): Promise<RateDecision>
  /** Undoes one `take` with the same rate. Time that has passed since counts only once. */
  giveBack(limitId: string, perMinute: number): Promise<void>
  /** Reports this process's counts and returns those of all processes that reported lately, including this one. */
  exchangeUses(uses: readonly RateUse[], silentMs: number): Promise<Map<string, Map<string, number>>>
  /** Removes limits that were not used for an hour. */
  removeOld(): Promise<void>
}

const minuteMicroseconds = 60_000_000
/** The furthest that an arrival time can lie in the future. One that lies further was written before the clock was set back. */
const aheadMicrosecondsMax = 2 * minuteMicroseconds
const oldMs = 3_600_000

/** Rate windows in the given database; its owner id identifies this process. */
export function createRateRepository(database: Database): RateRepository {
  async function look(limitId: string, perMinute: number): Promise<RateDecision> {
    const [row] = await database.query<{ ahead_us: number }>(
      'select tat_us - now_ms() * 1000 as ahead_us from rate_windows where rate_id = $1',
      [`gcra:${limitId}`],
    )
    const aheadUs = row?.ahead_us ?? 0
    const { toleranceUs } = paceOf(perMinute)
    if (aheadUs <= toleranceUs || aheadUs > aheadMicrosecondsMax) return { isAllowed: true, waitMs: 0 }
    return { isAllowed: false, waitMs: Math.ceil((aheadUs - toleranceUs) / 1000) }
  }

  return {
    look,
    async take(limitId, perMinute) {
      const rateId = `gcra:${limitId}`
      const { intervalUs, toleranceUs } = paceOf(perMinute)
      const [rows] = await database.commit({
        name: 'take rate',
        statements: [{ sql: takeSql, params: [rateId, intervalUs, toleranceUs] }],
      })
      if (rows && rows.length > 0) return { isAllowed: true, waitMs: 0 }
      // The limit may have become free in between, so the wait is at least a millisecond.
      return { isAllowed: false, waitMs: Math.max(1, (await look(limitId, perMinute)).waitMs) }
    },
    async giveBack(limitId, perMinute) {
      await database.commit({
        name: 'give rate back',
        statements: [
          {
            sql: `update rate_windows set tat_us = tat_us - $2, updated_at_ms = now_ms()
              where rate_id = $1 and tat_us > now_ms() * 1000`,
            params: [`gcra:${limitId}`, Math.floor(minuteMicroseconds / perMinute)],
          },
        ],
      })
    },
    async exchangeUses(uses, silentMs) {
      const { ownerId } = database
      await database.commit({
        name: 'report rates',
        statements: [
          {
            sql: `insert into rate_windows (rate_id, tat_us, updated_at_ms) values ($1, $2, now_ms())
                  on conflict (rate_id) do update set tat_us = excluded.tat_us, updated_at_ms = excluded.updated_at_ms`,
            rows: uses.map(({ limitId, count }) => [`use:${limitId}:${ownerId}`, count]),
          },
        ],
      })
      const rows = await database.query<{ rate_id: string; tat_us: number }>(
        "select rate_id, tat_us from rate_windows where substr(rate_id, 1, 4) = 'use:' and updated_at_ms > now_ms() - $1 and updated_at_ms <= now_ms() + $1",
        [silentMs],
      )
      return byLimit(rows)
    },
    async removeOld() {
      await database.commit({
        name: 'remove old rates',
        statements: [
          { sql: 'delete from rate_windows where updated_at_ms < now_ms() - $1', params: [oldMs] },
        ],
      })
    },
  }
}

// The arrival time moves on from itself or from now, whichever is later, unless it lies too far in the future already.
const takeSql = `insert into rate_windows (rate_id, tat_us, updated_at_ms) values ($1, now_ms() * 1000 + $2, now_ms())
  on conflict (rate_id) do update set
    tat_us = case when rate_windows.tat_us > now_ms() * 1000
        and rate_windows.tat_us <= now_ms() * 1000 + ${aheadMicrosecondsMax}
      then rate_windows.tat_us else now_ms() * 1000 end + $2,
    updated_at_ms = now_ms()
  where rate_windows.tat_us <= now_ms() * 1000 + $3
    or rate_windows.tat_us > now_ms() * 1000 + ${aheadMicrosecondsMax}
  returning tat_us`

/** The time that each request uses up, and how far ahead the arrival time may lie for one more request to be allowed. */
function paceOf(perMinute: number): { intervalUs: number; toleranceUs: number } {
  const intervalUs = Math.floor(minuteMicroseconds / perMinute)
  return { intervalUs, toleranceUs: intervalUs * (perMinute - 1) }
}

/** `use:<limit>:<owner>`; limits have colons, owners have none. */
function byLimit(rows: readonly { rate_id: string; tat_us: number }[]): Map<string, Map<string, number>> {
  const limits = new Map<string, Map<string, number>>()
  for (const { rate_id: rateId, tat_us: count } of rows) {
    const colon = rateId.lastIndexOf(':')
    const limitId = rateId.slice('use:'.length, colon)
    const owners = limits.get(limitId) ?? new Map<string, number>()
    owners.set(rateId.slice(colon + 1), count)
    limits.set(limitId, owners)
  }
  return limits
}
