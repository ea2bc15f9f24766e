import type { Faults } from './faults.ts'
import type { JsonObject } from './json.ts'

/** One request to an operation with a JSON body, after authentication and before validation. */
export interface Call {
  body: JsonObject
  faults: Faults
  /** Unique among the calls of this process, and equal in every run with the same seed. */
  key: string
  createdSeconds: number
  /** Aborted when the caller has left or the simulator stops. */
  signal: AbortSignal
}
