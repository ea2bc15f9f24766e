import type { Answer } from './answer.ts'
import type { ChatRequest } from './chat-request.ts'
import type { Faults } from './faults.ts'
import type { JsonObject } from './json.ts'

/** The common members of every chunk and every whole answer of one call. */
export interface ChatIdentity {
  id: string
  created: number
  model: string
  fingerprint: string
  /** The tier that serves the call. */
  tier: string
}

/** Everything that is needed to put an answer on the wire, whole or as a stream. */
export interface ChatResult {
  identity: ChatIdentity
  request: ChatRequest
  answers: Answer[]
  usage: JsonObject
  faults: Faults
}
