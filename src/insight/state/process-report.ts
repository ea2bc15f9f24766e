import type { DeadName } from './dead-names.ts'

/** How a deployment is in one process. Times are Unix milliseconds. */
export interface DeploymentReport {
  id: string
  state: 'healthy' | 'failing' | 'cooling_down' | 'out'
  sinceMs: number | null
  nextTryMs: number | null
  lastError: { type: string; status: number; message: string | null; atMs: number } | null
  models: number
  running: number
  waiting: number
  limit: number | null
}

/** What a process says of itself, as JSON in the database. A later version may leave members out or add some. */
export interface ProcessReport {
  host: string
  pid: number
  version: string
  role: string
  requestsRunning: number
  storageQueue: number
  capturesQueued: number
  logQueued: number
  logDropped: number
  deployments: readonly DeploymentReport[]
  /** Names whose first group answers no call; absent from processes of before. */
  deadNames?: readonly DeadName[]
}
