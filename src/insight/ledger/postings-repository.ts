import { organizationAccount } from '../../billing/ledger/ledger-statement.ts'
import { refundTransactionId } from '../../billing/ledger/capture-repository.ts'
import { refundsMax } from '../../core/limits/billing.ts'
import { dayOfTransaction, undatedDay } from '../../core/ids.ts'
import type { Database, SqlValue } from '../../storage/database.ts'

/** One side of a transaction. */
export interface Posting {
  transactionId: string
  account: string
  kind: string
  amountNanocredits: bigint
  createdAtMs: number
  reference: string | null
  day: number
}

/** A place in the list of postings: the newest day first, within a day the greatest transaction first. */
export interface PostingsPlace {
  day: number
  transactionId: string
}

/** Reads the ledger, aside. All methods reject with `storage_unavailable`. */
export interface PostingsRepository {
  /** Both sides of a generation's capture and of its refunds. */
  ofGeneration(organizationId: string, generationId: string): Promise<Posting[]>
  /** Postings of usage to the organization's account: of days from `place` down to `fromDay`. */
  listDated(
    organizationId: string,
    question: { place: PostingsPlace; fromDay: number; kinds: readonly string[]; limit: number },
  ): Promise<Posting[]>
  /** Grants and corrections, whose ids have no day; the newest first. */
  listUndated(organizationId: string, kinds: readonly string[], limit: number): Promise<Posting[]>
  /** What was charged for usage of these days (UTC), less refunds. */
  sumCharged(organizationId: string, fromDay: number, toDay: number): Promise<bigint>
  /** What calls that run now have set aside of the credits. */
  heldCredits(budgetId: string): Promise<bigint>
}

export function createPostingsRepository(database: Database): PostingsRepository {
  const list = async (condition: string, params: readonly SqlValue[]): Promise<Posting[]> => {
    const rows = await database.queryAside<PostingRow>(
      `select transaction_id, account, kind, amount_nanocredits, created_at_ms, reference, day from postings
        where ${condition}`,
      params,
    )
    return rows.map(toPosting)
  }
  return {
    ofGeneration(organizationId, generationId) {
      const ids = [generationId, ...refundIdsOf(generationId)]
      const places = ids.map((_, index) => `$${index + 3}`).join(', ')
      return list(
        `day = $1 and transaction_id in (${places}) and (account = $2 or account = 'income:usage')
          order by created_at_ms, transaction_id, account desc`,
        [dayOfTransaction(generationId), organizationAccount(organizationId), ...ids],
      )
    },
    listDated(organizationId, { place, fromDay, kinds, limit }) {
      const params: SqlValue[] = [
        organizationAccount(organizationId),
        place.day,
        place.transactionId,
        fromDay,
      ]
      const among = kinds.map((kind) => `$${params.push(kind)}`)
      return list(
        `account = $1 and day <= $2 and day >= $4 and (day < $2 or transaction_id < $3 or $3 = '')
          ${kinds.length > 0 ? `and kind in (${among.join(', ')})` : ''}
          order by day desc, transaction_id desc limit ${limit}`,
        params,
      )
    },
    listUndated(organizationId, kinds, limit) {
      const params: SqlValue[] = [organizationAccount(organizationId), undatedDay]
      const among = kinds.map((kind) => `$${params.push(kind)}`)
      return list(
        `account = $1 and day = $2 ${kinds.length > 0 ? `and kind in (${among.join(', ')})` : ''}
          order by created_at_ms desc, transaction_id desc limit ${limit}`,
        params,
      )
    },
    async sumCharged(organizationId, fromDay, toDay) {
      const [row] = await database.queryAside<{ sum_nanocredits: bigint }>(
        `select cast(coalesce(-sum(amount_nanocredits), 0) as bigint) as sum_nanocredits from postings
          where account = $1 and day >= $2 and day < $3 and kind <> 'grant'`,
        [organizationAccount(organizationId), fromDay, toDay],
      )
      return row?.sum_nanocredits ?? 0n
    },
    async heldCredits(budgetId) {
      const [row] = await database.queryAside<{ held_nanocredits: bigint }>(
        `select cast(coalesce(sum(held_nanocredits), 0) as bigint) as held_nanocredits from leases
          where budget_id = $1 and state <> 'closed'`,
        [budgetId],
      )
      return row?.held_nanocredits ?? 0n
    },
  }
}

function refundIdsOf(generationId: string): string[] {
  return Array.from({ length: refundsMax }, (_, index) =>
    refundTransactionId({ generationId, sequence: index + 1 }),
  )
}

interface PostingRow {
  transaction_id: string
  account: string
  kind: string
  amount_nanocredits: bigint
  created_at_ms: number
  reference: string | null
  day: number
}

function toPosting(row: PostingRow): Posting {
  return {
    transactionId: row.transaction_id,
    account: row.account,
    kind: row.kind,
    amountNanocredits: row.amount_nanocredits,
    createdAtMs: row.created_at_ms,
    reference: row.reference,
    day: row.day,
  }
}
