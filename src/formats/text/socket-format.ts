import type { TextCall } from '../../canonical/call.ts'
import type { LeanJson } from '../../json/document.ts'

/** How turns of an operation go over a WebSocket. Pure: `http/sockets` has the connections. */
export interface SocketTurns {
  /** Reads a message of the client. Throws `invalid_request`. */
  read(bytes: Uint8Array, lean: LeanJson | null): SocketTurn
  /** The lane of a message that cannot be read; null where it names none. */
  laneOf(message: string): string | null
  /** Reads an answer; its events name the lane, if the turn did. */
  createEvents(lane: string | null): TurnEvents
  /** The events that answer a turn which only prepares others. */
  writeWarmUp(call: TextCall, facts: WarmUpFacts): readonly string[]
  writeError(refusal: TurnRefusal): string
  /** The error of a turn that goes on from an answer which the connection does not have. */
  writeUnknownAnswer(id: string, lane: string | null): string
  /** The error that a connection ends with when it has lasted for so many minutes. */
  writeLifeOver(minutes: number): string
}

/** One message of a client: a call, perhaps one that goes on from an answer of this connection. */
export interface SocketTurn {
  /** Turns of one lane run one after the other; null for the lane without a name. */
  lane: string | null
  /** Whether no model is to be asked: later turns will continue this one. */
  isWarmUp: boolean
  /** The answer that it continues; null for none. */
  previousId: string | null
  /** The turn's own items as JSON, with commas between them and in memory of their own; empty for none. */
  items: Uint8Array
  /** The body of the same call over HTTP, with these items before its own. */
  bodyAfter(history: readonly Uint8Array[]): Uint8Array
}

/** The events of an answer as they pass. */
export interface TurnEvents {
  /** The messages that are complete now. Throws a RangeError when an event grows beyond the bound. */
  push(chunk: Uint8Array): readonly string[]
  /** What is left when the stream has ended. */
  end(): readonly string[]
  /** The answer, when it has ended in a way that a later turn can go on from; otherwise null. */
  readonly answered: AnsweredTurn | null
}

/** An answer that later turns can continue. */
export interface AnsweredTurn {
  id: string
  /** Its items as JSON, with commas between them. */
  items: Uint8Array
  /** Whether they stand for the whole conversation, as a compaction does. */
  isWhole?: boolean
}

/** Why a turn is not served. */
export interface TurnRefusal {
  /** The status that the call would have over HTTP. */
  status: number
  error: unknown
  headers?: Readonly<Record<string, string>>
  lane: string | null
}

/** What an answer without a model's call shows. */
export interface WarmUpFacts {
  id: string
  /** Unix seconds. */
  created: number
}
