import { readdirSync, readFileSync } from 'node:fs'
import { GatewayError } from '../core/errors.ts'
import { descriptorsOfCall, descriptorsUsual } from '../core/limits/http.ts'

/** Descriptors that calls may not use: so many, or this part of the limit but no more than `descriptorsUsual`. */
const descriptorsKept = 32
const descriptorsKeptPart = 8
/** With fewer left a connection that fails has failed for that. */
const descriptorsLeftMin = 8
/** How long a count of the descriptors is used. */
export const descriptorLookMs = 50
/** Descriptors of a process beside its calls: storage, threads, what listens. */
const descriptorsBeside = 40

/**
 * Counts the file descriptors of this process, including connections. Calls are refused before the last one is used. A
 * provider that cannot be reached for lack of descriptors has not failed, and parts of the runtime end the process when
 * they cannot get one.
 */
export interface Descriptors {
  /** The most this process may have; null when the system does not tell. */
  readonly limit: number | null
  /** Whether the limit is so small that it bounds the calls of ordinary operation. */
  readonly isSmall: boolean
  /** Whether one more call may run beside `running` others. Every call asks; usually it only compares a counter. */
  admit(running: number): boolean
  /** Whether no descriptor, or nearly none, is left, so that a failed connection failed for that reason. Counts the open ones. */
  areUsedUp(): boolean
}

/** How the descriptors of a process are counted; the system's own ways by default. */
export interface DescriptorSource {
  limit: number | null
  /** Throws when no descriptor is left for counting. */
  count: () => number
  nowMs: () => number
}

const folder = '/proc/self/fd'

/** Counts the descriptors of this process. */
export function createDescriptors(source: DescriptorSource = ownDescriptors()): Descriptors {
  return source.limit === null ? unknownDescriptors : new CountedDescriptors(source.limit, source)
}

const unknownDescriptors: Descriptors = {
  limit: null,
  isSmall: false,
  admit: () => true,
  areUsedUp: () => false,
}

/** The limit of this process; null where the system does not tell it. */
export function descriptorLimit(): number | null {
  try {
    const found = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))
    return found?.[1] === undefined ? null : Number(found[1])
  } catch {
    return null
  }
}

function ownDescriptors(): DescriptorSource {
  return {
    limit: descriptorLimit(),
    count: () => readdirSync(folder).length,
    nowMs: () => performance.now(),
  }
}

class CountedDescriptors implements Descriptors {
  readonly limit: number
  readonly isSmall: boolean
  readonly #source: DescriptorSource
  /** Descriptors that are not used by calls. */
  readonly #base: number
  readonly #usable: number
  /** How many calls may start before the descriptors are counted again. */
  #room = 0
  #lookedMs = Number.NEGATIVE_INFINITY
  #used = 0
  #runningThen = 0

  constructor(limit: number, source: DescriptorSource) {
    this.limit = limit
    this.isSmall = limit < descriptorsUsual
    this.#source = source
    this.#base = source.count()
    this.#usable = usableOf(limit)
  }

  admit(running: number): boolean {
    if (this.#room > 0) {
      this.#room -= 1
      return true
    }
    this.#look(running)
    // A call that has not connected yet is not in the count, so every running call counts with all the descriptors it will use.
    const calls = running - this.#runningThen
    const used = Math.max(this.#used + calls * descriptorsOfCall, this.#base + running * descriptorsOfCall)
    const free = this.#usable - used
    if (free < descriptorsOfCall) return false
    // Only half of the free ones, because callers also connect without making calls.
    this.#room = Math.floor(free / descriptorsOfCall / 2)
    return true
  }

  areUsedUp(): boolean {
    return this.limit - this.#count() < descriptorsLeftMin
  }

  /** Does not count again for every refused call: listing many descriptors takes a millisecond. */
  #look(running: number): void {
    const nowMs = this.#source.nowMs()
    if (nowMs - this.#lookedMs < descriptorLookMs) return
    this.#lookedMs = nowMs
    this.#used = this.#count()
    this.#runningThen = running
  }

  #count(): number {
    try {
      return this.#source.count()
    } catch {
      return this.limit
    }
  }
}

/** The warning to the operator about a small limit. */
export function fewDescriptors(limit: number | null): string {
  const calls = Math.max(1, Math.floor((usableOf(limit ?? 0) - descriptorsBeside) / descriptorsOfCall))
  return (
    `this process may have ${limit} open files, which is enough for about ${calls} calls at once; further ones get 503. ` +
    'Raise the hard limit: ulimit -Hn, LimitNOFILE of systemd, or --ulimit nofile of a container'
  )
}

function usableOf(limit: number): number {
  return limit - Math.max(descriptorsKept, Math.min(limit / descriptorsKeptPart, descriptorsUsual))
}

/** Whether an error means that this process, or this machine, has no descriptor left. */
export function isOutOfDescriptors(failure: unknown): boolean {
  const code = failure instanceof Error && 'code' in failure ? failure.code : null
  return code === 'EMFILE' || code === 'ENFILE'
}

/** The error for a call when this process has no descriptors for it. */
export function noDescriptors(cause?: unknown): GatewayError {
  return new GatewayError(
    'gateway_overloaded',
    'This gateway has as many connections as it may have; try again in a moment.',
    { retryAfterSeconds: 1, ...(cause === undefined ? {} : { cause }) },
  )
}

/**
 * Makes the runtime start its thread for requests and read its certificates now, while there are descriptors for both. If
 * it did so later without any left, it would end the process. Makes no connection.
 */
export async function startOutgoing(): Promise<void> {
  for (const scheme of ['http', 'https'])
    await fetch(`${scheme}://start.invalid/`, { unix: '/nonexistent/headrace' }).catch(() => undefined)
}
