import type { Clock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import { unknownKeyRefusalEveryMs } from '../core/limits/access.ts'

/** How many unknown keys of one address wait for their turn, for how long, and how many addresses are watched. */
const unknownKeysWaitingMax = 1_000
const unknownKeyWaitMsMax = 30_000
const authenticationAddressesMax = 10_000

/**
 * Only counts and waits: `unknown-keys.ts` decides what needs a turn, how many there are and how often a new one comes.
 * Grants turns at a bounded rate for each client address. An IPv6 network of 64 bits counts as one address, because the
 * owner of one address in it has them all. Requests whose address is unknown (empty) count as of one address.
 */
export interface Turns {
  /** The next turn of this address. A repeated request comes after all fresh ones, and always leaves one turn to them. */
  enter(address: string, isRepeated: boolean): KeyTurn
}

/** The right to do one thing, now or after a wait. */
export interface KeyTurn {
  /** Null: now. Rejects with `rate_limit_exceeded` when too many wait, or the wait is too long. */
  readonly ready: Promise<void> | null
  /** Returns a turn that was not needed, even one that is still waited for; then `ready` may stay pending. Call it once. */
  giveBack(): void
}

/** How many turns an address has at once, and how often it gets one more. */
export interface TurnsOptions {
  turnsMax: number
  everyMs: number
  /** What a request is told that does not get its turn. */
  tooMany: string
  clock: Clock
  /** Calls `wake` after so many milliseconds; a timer by default. */
  wakeAfter?: ((delayMs: number, wake: () => void) => void) | undefined
}

interface Waiter {
  turn: PromiseWithResolvers<void>
  hasTurn: boolean
  sinceMs: number
}

/** A repeated request begins only when two turns are free, and so leaves one to a fresh request. */
const needed = { fresh: 1, repeated: 2 } as const

/** Remembers a bounded number of addresses; the one remembered longest is forgotten first. */
export function createTurns(options: TurnsOptions): Turns {
  const { clock } = options
  const networks = new Map<string, Network>()
  return {
    enter(address, isRepeated) {
      const network = networkOf(networks, networkName(address), () => new Network(options))
      return network.enter(isRepeated ? 'repeated' : 'fresh', clock.monotonicMs())
    },
  }
}

function networkOf(networks: Map<string, Network>, name: string, create: () => Network): Network {
  const known = networks.get(name)
  if (known) return known
  for (const oldest of networks.keys()) {
    if (networks.size < authenticationAddressesMax) break
    networks.delete(oldest)
  }
  const network = create()
  networks.set(name, network)
  return network
}

/** The turns of one address. */
class Network {
  readonly #options: TurnsOptions
  /** Turns that may begin now; the fraction is a part of the next one. */
  #turns: number
  #refilledAtMs: number
  /** The oldest first. */
  readonly #waiting = { fresh: new Set<Waiter>(), repeated: new Set<Waiter>() }
  #isWakeSet = false

  constructor(options: TurnsOptions) {
    this.#options = options
    this.#turns = options.turnsMax
    this.#refilledAtMs = options.clock.monotonicMs()
  }

  enter(kind: keyof typeof needed, nowMs: number): KeyTurn {
    this.#refill(nowMs)
    const queue = this.#waiting[kind]
    if (this.#waiting.fresh.size === 0 && this.#turns >= needed[kind]) {
      this.#turns -= 1
      return this.#turnOf(null, queue)
    }
    const waiter = { turn: Promise.withResolvers<void>(), hasTurn: false, sinceMs: nowMs }
    makeRoom(queue, this.#options)
    queue.add(waiter)
    this.#wakeLater()
    return this.#turnOf(waiter, queue)
  }

  #turnOf(waiter: Waiter | null, queue: Set<Waiter>): KeyTurn {
    let isOpen = true
    return {
      ready: waiter && waiter.turn.promise,
      giveBack: () => {
        if (!isOpen) return
        isOpen = false
        if (waiter && !waiter.hasTurn) return void queue.delete(waiter)
        this.#turns = Math.min(this.#options.turnsMax, this.#turns + 1)
        this.#startWaiting()
      },
    }
  }

  #refill(nowMs: number): void {
    const { turnsMax, everyMs } = this.#options
    this.#turns = Math.min(turnsMax, this.#turns + (nowMs - this.#refilledAtMs) / everyMs)
    this.#refilledAtMs = nowMs
  }

  #startWaiting(): void {
    const nowMs = this.#options.clock.monotonicMs()
    this.#refill(nowMs)
    for (const kind of ['fresh', 'repeated'] as const) {
      const queue = this.#waiting[kind]
      while (queue.size > 0 && this.#turns >= needed[kind]) {
        this.#turns -= 1
        admitNewest(queue)
      }
    }
    for (const queue of Object.values(this.#waiting)) refuseLate(queue, nowMs, this.#options)
    this.#wakeLater()
  }

  #wakeLater(): void {
    const { fresh, repeated } = this.#waiting
    if (this.#isWakeSet || fresh.size + repeated.size === 0) return
    this.#isWakeSet = true
    const { everyMs, wakeAfter = wakeByTimer } = this.#options
    // Wakes when one turn is free at the latest, because a fresh request may arrive meanwhile.
    const missing = Math.min(1, needed[fresh.size > 0 ? 'fresh' : 'repeated'] - this.#turns)
    wakeAfter(Math.max(1, Math.ceil(missing * everyMs)), () => {
      this.#isWakeSet = false
      this.#startWaiting()
    })
  }
}

function wakeByTimer(delayMs: number, wake: () => void): void {
  setTimeout(wake, delayMs).unref()
}

/** Admits the newest waiter: when more wait than there are turns, a good key that arrives later is still served. */
function admitNewest(queue: Set<Waiter>): void {
  const newest = [...queue].at(-1)
  if (!newest) return
  queue.delete(newest)
  newest.hasTurn = true
  newest.turn.resolve()
}

function refuseLate(queue: Set<Waiter>, nowMs: number, options: TurnsOptions): void {
  for (const waiter of queue) {
    if (waiter.sinceMs + unknownKeyWaitMsMax > nowMs) return
    refuse(queue, waiter, options)
  }
}

function makeRoom(queue: Set<Waiter>, options: TurnsOptions): void {
  for (const oldest of queue) {
    if (queue.size < unknownKeysWaitingMax) return
    refuse(queue, oldest, options)
  }
}

function refuse(queue: Set<Waiter>, waiter: Waiter, { tooMany }: TurnsOptions): void {
  queue.delete(waiter)
  waiter.turn.reject(
    new GatewayError('rate_limit_exceeded', tooMany, {
      retryAfterSeconds: Math.ceil(unknownKeyRefusalEveryMs / 1000),
    }),
  )
}

/** The first four groups of an IPv6 address; any other address as it is. */
function networkName(address: string): string {
  if (!address.includes(':') || address.includes('.')) return address
  const [front = '', back] = address.split('::')
  const groups = front === '' ? [] : front.split(':')
  const tail = back === undefined || back === '' ? [] : back.split(':')
  const gap =
    back === undefined ? [] : Array.from({ length: Math.max(0, 8 - groups.length - tail.length) }, () => '0')
  return [...groups, ...gap, ...tail]
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')
}
