import type { NamesRepository } from './names-repository.ts'
import type { PostingsRepository } from './ledger/postings-repository.ts'
import type { RequestSearchRepository } from './log/request-search-repository.ts'
import type { SumsRepository } from './spend/sums-repository.ts'
import type { UsersRepository } from './spend/users-repository.ts'
import type { FeedbackRepository } from './feedback-repository.ts'
import type { KnownDeployment } from './state/deployment-health.ts'
import type { ProcessStateRepository } from './state/process-state-repository.ts'
import type { QueueRepository } from './state/queue-repository.ts'

/** A finding of `headrace doctor`, as it is shown. */
export interface ShownFinding {
  level: 'ok' | 'warning' | 'problem'
  subject: string
  message: string
  next: string | null
}

/** What people look at: the log of calls, sums, the ledger, and how the gateway is. Every read is aside. */
export interface Insight {
  search: RequestSearchRepository
  names: NamesRepository
  postings: PostingsRepository
  sums: SumsRepository
  users: UsersRepository
  feedback: FeedbackRepository
  processes: ProcessStateRepository
  queues: QueueRepository
  /** The configured deployments. */
  deployments: readonly KnownDeployment[]
  /** Display names of providers, by the ids of deployments and by slugs. */
  providerNames: ReadonlyMap<string, string>
  /** What does not change while the process runs. */
  facts: {
    version: string
    database: string
    isSandbox: boolean
    requestLogDays: number
  }
  /** All checks of `headrace doctor`; takes seconds. */
  diagnose: () => Promise<ShownFinding[]>
}
