import type { BudgetRef } from '../../billing/budgets/budget-ids.ts'
import type { AskedFor } from '../../canonical/call.ts'
import type { CredentialReference } from '../../canonical/credential.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import type { OperationName } from '../../canonical/operation.ts'
import type { UpstreamRequest } from '../../canonical/upstream.ts'
import type { Demand } from '../../canonical/usage.ts'

/** An endpoint that a call may try, with the reference of the credential for it. */
export interface Candidate {
  readonly endpoint: Endpoint
  readonly credential: CredentialReference
  /** Actual to estimated prompt tokens of its model, as learned when the call was prepared. */
  readonly promptRatio: number
}

/** Who pays for a call, and what its usage row tells of the request. */
export interface CallOwner {
  readonly organizationId: string
  readonly workspaceId: string
  readonly memberId: string | null
  readonly keyId: string
  readonly requestId: string
  readonly batchId: string | null
  readonly customId: string | null
  readonly sessionId: string | null
  readonly userId: string | null
  /** Absent in what a version before stored. */
  readonly asked?: AskedFor
}

/** How the application that calls names itself, each at most `attributionLengthMax` long. Never sent to a provider. */
export interface Attribution {
  readonly http_referer?: string
  readonly app_title?: string
  readonly user_agent?: string
}

/**
 * A call that may be made, as a value: where it goes, at what prices, with which credential, and what was set aside for
 * it. Plain data without a secret, so that it can be stored, and charged by another process when the answer is there.
 */
export interface Prepared {
  readonly generationId: string
  readonly operation: OperationName
  readonly owner: CallOwner
  readonly attribution: Attribution
  readonly createdAtMs: number
  readonly isStreamed: boolean
  readonly demand: Demand
  /** In the order to try; never empty. */
  readonly route: readonly Candidate[]
  readonly hold: { readonly amountNanocredits: bigint; readonly budgets: readonly BudgetRef[] }
  /**
   * The request to the first candidate of the route; null where nothing is sent, or where the body is a file that only
   * this process can open.
   */
  readonly request: UpstreamRequest | null
}
