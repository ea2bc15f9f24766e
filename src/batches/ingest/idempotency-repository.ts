import type { OrganizationId } from '../../core/ids.ts'
import type { Database, Statement } from '../../storage/database.ts'

/** A remembered request. */
export interface Claim {
  ownerId: string
  state: 'claimed' | 'done'
  bodySha256: string | null
  /** The id of what the request created, such as a batch id. */
  referenceId: string | null
  isExpired: boolean
}

/** The guard that fails when a claim has changed since its owner read it. */
export const claimGuard = 'idempotency_claim'

/** Reads of the table `idempotency_keys`. */
export interface IdempotencyRepository {
  load(claimId: string): Promise<Claim | null>
}

export function createIdempotencyRepository(database: Database): IdempotencyRepository {
  return {
    async load(claimId) {
      const [row] = await database.query(
        `select owner_id, state, body_sha256, reference_id,
           case when expires_at_ms <= now_ms() then 1 else 0 end as is_expired
         from idempotency_keys where claim_id = $1`,
        [claimId],
      )
      if (row === undefined) return null
      return {
        ownerId: String(row['owner_id']),
        state: row['state'] as Claim['state'],
        bodySha256: row['body_sha256'] as string | null,
        referenceId: row['reference_id'] as string | null,
        isExpired: row['is_expired'] === 1,
      }
    },
  }
}

/** Claims a key; violates uniqueness when the key is claimed already. */
export function insertClaim(claim: {
  claimId: string
  organizationId: OrganizationId
  route: string
  ownerId: string
  rememberMs: number
}): Statement {
  return {
    sql: `insert into idempotency_keys (claim_id, organization_id, route, owner_id, state, created_at_ms, expires_at_ms)
      values ($1, $2, $3, $4, 'claimed', now_ms(), now_ms() + cast($5 as bigint))`,
    params: [claim.claimId, claim.organizationId, claim.route, claim.ownerId, claim.rememberMs],
  }
}

/** Takes a claim over from the named owner, which is dead or whose time is over. */
export function takeOverClaim(claimId: string, from: string, ownerId: string, rememberMs: number): Statement {
  return {
    sql: `update idempotency_keys set owner_id = $1, state = 'claimed', body_sha256 = null, reference_id = null,
        created_at_ms = now_ms(), expires_at_ms = now_ms() + cast($2 as bigint)
      where claim_id = $3 and owner_id = $4 and (state = 'claimed' or expires_at_ms <= now_ms())`,
    params: [ownerId, rememberMs, claimId, from],
    expect: 1,
    guard: claimGuard,
  }
}

/** Remembers what the request created; belongs into the unit that creates it. */
export function completeClaim(
  claimId: string,
  ownerId: string,
  done: { bodySha256: string; referenceId: string },
): Statement {
  return {
    sql: `update idempotency_keys set state = 'done', body_sha256 = $1, reference_id = $2
      where claim_id = $3 and owner_id = $4 and state = 'claimed'`,
    params: [done.bodySha256, done.referenceId, claimId, ownerId],
    expect: 1,
    guard: claimGuard,
  }
}

/** Deletes a claim whose request was refused, so that the key can be used again. */
export function releaseClaim(claimId: string, ownerId: string): Statement {
  return {
    sql: `delete from idempotency_keys where claim_id = $1 and owner_id = $2 and state = 'claimed'`,
    params: [claimId, ownerId],
  }
}

/** Deletes claims that are older than they must be remembered; returns a row for each. */
export function forgetClaims(limit: number): Statement {
  return {
    sql: `delete from idempotency_keys where claim_id in (
      select claim_id from idempotency_keys where expires_at_ms <= now_ms() order by expires_at_ms limit $1)
      returning claim_id`,
    params: [limit],
  }
}
