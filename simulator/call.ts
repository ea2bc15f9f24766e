import type { Faults } from './faults.ts'
import type { JsonObject } from './json.ts'

/** One request to an operation with a JSON body, after authentication and before validation. */
export interface Call {
  body: JsonObject
  faults: Faults
  /** Unique among the calls of this process, and the same again when a seeded run is repeated. */
  key: string
  createdSeconds: number
  /** Aborted when the caller has left or the simulator stops. */
  signal: AbortSignal
}
