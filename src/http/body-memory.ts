import { readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { Alarms, type Alarm } from '../core/alarms.ts'
import { GatewayError } from '../core/errors.ts'

/** The part of its memory that a process uses for bodies by default: one in so many. */
const bodyMemoryPart = 4

/** How long a body waits for memory, and how many bodies may wait; further ones are refused at once. */
const bodyMemoryWaitMs = 10_000
export const bodiesWaitingMax = 256

/** The part of the shared memory that one body uses. */
export interface HeldBody {
  /**
   * Takes this many more bytes; null when they are available at once. Rejects with `gateway_overloaded` when they are
   * not available in time, or when too many bodies wait already. Await it before the next call.
   */
  grow(bytes: number): Promise<void> | null
  /** Returns the memory. May be called again. */
  release(): void
}

interface Waiting {
  held: Held
  bytes: number
  resolve: () => void
  reject: (error: unknown) => void
}

/** For all waits for memory. */
const alarms = new Alarms()

/**
 * The memory that large bodies of calls share. When it is used up, further bodies wait in order; a waiting body stays in
 * the network, because a client does not send what is not read. A single body always gets its memory, however large.
 */
export class BodyMemory {
  readonly #bytesMax: number
  readonly #waitMs: number
  #used = 0
  readonly #waiting = new Set<Waiting>()

  constructor(bytesMax: number, waitMs: number = bodyMemoryWaitMs) {
    this.#bytesMax = bytesMax
    this.#waitMs = waitMs
  }

  /** `signal` ends a wait. */
  open(signal: AbortSignal): HeldBody {
    return new Held(this, signal)
  }

  take(held: Held, bytes: number, signal: AbortSignal): Promise<void> | null {
    if (this.#waiting.size === 0 && this.#fits(held, bytes)) {
      this.#add(held, bytes)
      return null
    }
    return this.#waiting.size < bodiesWaitingMax
      ? this.#wait({ held, bytes }, signal)
      : Promise.reject(overloaded())
  }

  give(bytes: number): void {
    this.#used -= bytes
    for (const waiting of this.#waiting) {
      if (!this.#fits(waiting.held, waiting.bytes)) return
      this.#waiting.delete(waiting)
      this.#add(waiting.held, waiting.bytes)
      waiting.resolve()
    }
  }

  #fits(held: Held, bytes: number): boolean {
    return this.#used + bytes <= this.#bytesMax || this.#used === held.bytes
  }

  #add(held: Held, bytes: number): void {
    this.#used += bytes
    held.bytes += bytes
  }

  async #wait(asked: Pick<Waiting, 'held' | 'bytes'>, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiting: Waiting = { ...asked, resolve, reject }
    this.#waiting.add(waiting)
    const leave = () => reject(signal.reason)
    signal.addEventListener('abort', leave, { once: true })
    const alarm: Alarm = alarms.set(this.#waitMs, () => reject(overloaded()))
    try {
      await promise
    } finally {
      alarms.callOff(alarm)
      signal.removeEventListener('abort', leave)
      // The bodies behind it may be smaller and fit now.
      if (this.#waiting.delete(waiting)) this.give(0)
    }
  }
}

class Held implements HeldBody {
  readonly #memory: BodyMemory
  readonly #signal: AbortSignal
  bytes = 0

  constructor(memory: BodyMemory, signal: AbortSignal) {
    this.#memory = memory
    this.#signal = signal
  }

  grow(bytes: number): Promise<void> | null {
    return this.#memory.take(this, bytes, this.#signal)
  }

  release(): void {
    const { bytes } = this
    this.bytes = 0
    this.#memory.give(bytes)
  }
}

function overloaded(): GatewayError {
  return new GatewayError(
    'gateway_overloaded',
    'This gateway holds as many bytes of requests as it may; try again in a moment, or send less.',
    { retryAfterSeconds: 2 },
  )
}

/** The part of this process's memory that bodies may use by default. */
export function usualBodyMemory(): number {
  return Math.floor(availableBytes() / bodyMemoryPart)
}

/** The machine's memory, or the limit of this process's control groups, if the system reports it. */
function availableBytes(): number {
  return Math.min(totalmem(), ...groupFiles().map(limitIn))
}

/** The limit files of its control group and of the enclosing ones. */
function groupFiles(): string[] {
  const group = /^0::(\/.*)$/m.exec(textOf('/proc/self/cgroup'))?.[1] ?? '/'
  const steps = group.split('/').filter((step) => step !== '')
  const around = Array.from({ length: steps.length + 1 }, (_, count) => steps.slice(0, count).join('/'))
  return [
    ...around.map((path) => `/sys/fs/cgroup/${path}/memory.max`),
    '/sys/fs/cgroup/memory/memory.limit_in_bytes',
  ]
}

function limitIn(file: string): number {
  const text = textOf(file).trim()
  return /^\d+$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
