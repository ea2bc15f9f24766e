import { type Clock, systemClock } from '../../core/clock.ts'
import { beganAtMs, firstIdAt } from './log-row.ts'
import type {
  LogFilter,
  LoggedCall,
  LogOrder,
  LogSpan,
  RequestSearchRepository,
} from './request-search-repository.ts'

/** How long one search goes on; then it tells how far it came, and its caller asks again. */
export const searchMs = 75
/** Rows that one step walks: few at first; more while steps are short, so that a step fits into the time of a search. */
const stepRowsMin = 500
const stepRowsMax = 50_000
const stepMs = 10
/** After a step a search rests for this share of the step's time, so that it leaves a core of the database to live calls. */
const restShare = 0.5

/** What is searched for. */
export interface Search {
  filter: LogFilter
  /** Unix milliseconds; from is included, to is not. */
  fromMs: number
  toMs: number
  order: LogOrder
  limit: number
  /** The id of the request at which the search goes on, itself excluded; null at the beginning. */
  cursor: string | null
}

/** A page of a search. */
export interface Found {
  rows: readonly LoggedCall[]
  /** Where to go on; null at the end. */
  cursor: string | null
}

/**
 * Searches the log for a bounded time. Rows are walked in steps along the index, so a filter that nothing passes
 * returns as soon as one that everything passes.
 */
export async function searchRequests(
  search: Search,
  repository: RequestSearchRepository,
  clock: Clock = systemClock,
): Promise<Found> {
  const { filter, order, limit } = search
  const untilMs = clock.monotonicMs() + searchMs
  let span = spanOf(search)
  const rows: LoggedCall[] = []
  for (let stepRows = stepRowsMin; ;) {
    const startedMs = clock.monotonicMs()
    const ahead = await repository.idAhead(filter, span, order, stepRows)
    const step = ahead === null ? span : cutAt(span, order, ahead)
    const missing = limit - rows.length
    const found = await repository.list(filter, step, order, missing)
    rows.push(...found)
    const last = rows.at(-1)
    if (last !== undefined && found.length === missing) return { rows, cursor: last.requestId }
    if (ahead === null) return { rows, cursor: null }
    span = restAfter(span, order, ahead)
    const nowMs = clock.monotonicMs()
    if (nowMs >= untilMs) return { rows, cursor: ahead }
    await Bun.sleep((nowMs - startedMs) * restShare)
    if (nowMs - startedMs < stepMs) stepRows = Math.min(stepRowsMax, stepRows * 2)
    else if (nowMs - startedMs > 2 * stepMs) stepRows = Math.max(stepRowsMin, Math.floor(stepRows / 2))
  }
}

/** Greater than every id. */
const lastId = 'req_~'

function spanOf({ fromMs, toMs, order, cursor }: Search): LogSpan {
  // Ids of this very time are longer than their beginning, so they come after it.
  const span = {
    after: firstIdAt(fromMs),
    before: toMs === Number.POSITIVE_INFINITY ? lastId : firstIdAt(toMs),
  }
  return cursor === null ? span : restAfter(span, order, cursor)
}

/** The part of the span up to this id, which belongs to it. */
function cutAt(span: LogSpan, order: LogOrder, id: string): LogSpan {
  return order === 'desc' ? { ...span, after: justBefore(id) } : { ...span, before: justAfter(id) }
}

function restAfter(span: LogSpan, order: LogOrder, id: string): LogSpan {
  return order === 'desc' ? { ...span, before: id } : { ...span, after: id }
}

/** No id lies between this text and the id. */
function justBefore(id: string): string {
  const code = id.charCodeAt(id.length - 1)
  return `${id.slice(0, -1)}${String.fromCharCode(code - 1)}~`
}

function justAfter(id: string): string {
  return `${id} `
}

/** How far a search came, as a time. */
export function searchedTo(cursor: string): Date {
  return new Date(beganAtMs(cursor))
}
