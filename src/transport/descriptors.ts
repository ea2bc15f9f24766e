import { readdirSync, readFileSync } from 'node:fs'
import { GatewayError } from '../core/errors.ts'
import {
  descriptorLookMs,
  descriptorsBeside,
  descriptorsKept,
  descriptorsKeptPart,
  descriptorsLeftMin,
  descriptorsOfCall,
  descriptorsUsual,
} from '../core/limits/http.ts'

/**
 * The open files that this process may have, connections among them. Calls are refused before the last are taken: a
 * provider that cannot be reached because this process has none left has not failed, and some parts of the runtime end the
 * process when they get none.
 */
export interface Descriptors {
  /** How many there may be; null where the system does not tell. */
  readonly limit: number | null
  /** Whether the limit is so small that it bounds the calls of an ordinary day. */
  readonly isSmall: boolean
  /** Whether a call more may run beside so many; told of every call. Mostly a counter. */
  admit(running: number): boolean
  /** Whether none is left, or nearly none: what fails to connect now fails for that. Looks at the system. */
  areUsedUp(): boolean
}

/** How a process's descriptors are known; the system's own ways by default. */
export interface DescriptorSource {
  limit: number | null
  /** Throws where not even this can be opened. */
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
  /** What is used beside calls. */
  readonly #base: number
  readonly #usable: number
  /** Calls that are let in before anything is counted again. */
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
    // A call that has not connected yet is in no count, so that each of those that run counts as it will be.
    const calls = running - this.#runningThen
    const used = Math.max(this.#used + calls * descriptorsOfCall, this.#base + running * descriptorsOfCall)
    const free = this.#usable - used
    if (free < descriptorsOfCall) return false
    // Of a few at a time, because callers also connect without calling.
    this.#room = Math.floor(free / descriptorsOfCall / 2)
    return true
  }

  areUsedUp(): boolean {
    return this.limit - this.#count() < descriptorsLeftMin
  }

  /** Not for every call that is refused: a long list takes a millisecond. */
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

/** What its operator is told of a small limit. */
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

/** Whether something failed because this process, or this machine, has no descriptor left. */
export function isOutOfDescriptors(failure: unknown): boolean {
  const code = failure instanceof Error && 'code' in failure ? failure.code : null
  return code === 'EMFILE' || code === 'ENFILE'
}

/** What a call is told that this process has no room for. */
export function noDescriptors(cause?: unknown): GatewayError {
  return new GatewayError(
    'gateway_overloaded',
    'This gateway has as many connections as it may have; try again in a moment.',
    { retryAfterSeconds: 1, ...(cause === undefined ? {} : { cause }) },
  )
}

/**
 * Has the runtime start its thread for requests, and read its certificates, while there are descriptors for both: later it
 * would end the process without them. No connection is made.
 */
export async function startOutgoing(): Promise<void> {
  for (const scheme of ['http', 'https'])
    await fetch(`${scheme}://start.invalid/`, { unix: '/nonexistent/headrace' }).catch(() => undefined)
}
