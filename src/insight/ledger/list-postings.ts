import { undatedDay } from '../../core/ids.ts'
import type { Posting, PostingsPlace, PostingsRepository } from './postings-repository.ts'

const dayMs = 86_400_000
/** Grants and corrections of an organization that are listed at most. */
export const undatedMax = 10_000

/** What is listed of an organization's account. */
export interface PostingsQuestion {
  organizationId: string
  fromMs: number
  toMs: number
  kinds: readonly string[]
  limit: number
  /** Where to go on; null at the beginning. */
  place: PostingsPlace | null
}

/** A page of postings. */
export interface PostingsPage {
  postings: readonly Posting[]
  /** Null at the end. */
  next: PostingsPlace | null
}

/** Before every transaction of a day. */
const dayBegin = ''

/**
 * The newest days first. Grants have no day in their ids: they stand before the usage of the day on which they were
 * made, beyond the limit. The order within a day is the database's, which nothing here compares.
 */
export async function listPostings(
  { organizationId, fromMs, toMs, kinds, limit, place }: PostingsQuestion,
  repository: PostingsRepository,
): Promise<PostingsPage> {
  const fromDay = Math.max(undatedDay + 1, Math.floor(fromMs / dayMs))
  const from = place ?? { day: Math.floor((toMs - 1) / dayMs), transactionId: dayBegin }
  const isAsked = (kind: string) => kinds.length === 0 || kinds.includes(kind)
  const [dated, undated] = await Promise.all([
    kinds.every((kind) => kind === 'grant') && kinds.length > 0
      ? []
      : repository.listDated(organizationId, { place: from, fromDay, kinds, limit: limit + 1 }),
    isAsked('grant') || isAsked('correction')
      ? repository.listUndated(organizationId, kinds, undatedMax)
      : [],
  ])
  const page = dated.slice(0, limit)
  const last = page.at(-1)
  const hasMore = dated.length > limit && last !== undefined
  const lowest = hasMore ? last.day : fromDay
  const grants = undated
    .map((posting) => ({ ...posting, day: Math.floor(posting.createdAtMs / dayMs) }))
    .filter(({ createdAtMs }) => createdAtMs >= fromMs && createdAtMs < toMs)
    .filter(({ day }) => day >= lowest && (place === null ? day <= from.day : day < from.day))
  return {
    postings: [...grants, ...page].toSorted((left, right) => right.day - left.day),
    next: hasMore ? { day: last.day, transactionId: last.transactionId } : null,
  }
}
