import type { Clock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import {
  authenticationAddressesMax,
  unknownKeyLookupEveryMs,
  unknownKeyLookupsMax,
  unknownKeysWaitingMax,
  unknownKeyWaitMsMax,
} from '../core/limits/access.ts'

/**
 * Slows down the guessing of keys: every client address may have so many lookups that find nothing at once, and from then
 * on one now and then. A lookup that finds a usable key costs nothing, so that a client whose key is good waits a moment
 * at the most, whatever others send from the same address. Of IPv6 a network of 64 bits counts as one address, since
 * whoever has one address there has all of them.
 */
export interface UnknownKeys {
  /**
   * The turn to look up a key that this process does not know: at once, or after a wait. Rejects or throws with
   * `rate_limit_exceeded` when too many wait, or the wait is too long. All requests
   * whose address is unknown (it is empty) share one.
   */
  enter(address: string, key: UnknownKey): Turn | Promise<Turn>
}

/** A key that this process does not know. */
export interface UnknownKey {
  keyHash: string
  /** It was looked up before and was none. Such a key comes last, so that a client with a wrong one holds up nobody. */
  isRepeated: boolean
}

/** The right to one lookup. */
export interface Turn {
  /** The lookup found a usable key, or none took place: the turn is given back. Once. */
  giveBack(): void
}

/** What the slowing needs. */
export interface UnknownKeysOptions {
  clock: Clock
  /** Calls `wake` after so many milliseconds; a timer by default. */
  wakeAfter?: (delayMs: number, wake: () => void) => void
}

interface Network {
  /** Lookups that may begin now; a fraction counts towards the next. */
  lookups: number
  refilledAtMs: number
  /** By key, the oldest first. */
  waiting: { fresh: Map<string, Waiter>; repeated: Map<string, Waiter> }
  isWakeSet: boolean
}

/** All requests with one key from one network. */
interface Waiter {
  turn: PromiseWithResolvers<Turn>
  sinceMs: number
}

/** A repeated key leaves one lookup to those that may be good. */
const needed = { fresh: 1, repeated: 2 } as const

/** Remembers a bounded number of addresses; the one known longest gives way. */
export function createUnknownKeys(options: UnknownKeysOptions): UnknownKeys {
  const { clock } = options
  const wakeAfter = options.wakeAfter ?? ((delayMs, wake) => void setTimeout(wake, delayMs).unref())
  const networks = new Map<string, Network>()

  function turnOf(network: Network): Turn {
    network.lookups -= 1
    let isOpen = true
    return {
      giveBack() {
        if (!isOpen) return
        isOpen = false
        network.lookups = Math.min(unknownKeyLookupsMax, network.lookups + 1)
        startWaiting(network)
      },
    }
  }

  function startWaiting(network: Network): void {
    const nowMs = clock.monotonicMs()
    refill(network, nowMs)
    for (const kind of ['fresh', 'repeated'] as const) {
      const queue = network.waiting[kind]
      while (queue.size > 0 && network.lookups >= needed[kind]) grantNewest(queue, () => turnOf(network))
    }
    for (const queue of Object.values(network.waiting)) refuseLate(queue, nowMs)
    wakeLater(network)
  }

  function wakeLater(network: Network): void {
    const { fresh, repeated } = network.waiting
    if (network.isWakeSet || fresh.size + repeated.size === 0) return
    network.isWakeSet = true
    // Not later than one more lookup may begin: a key that may be good can come in the meantime.
    const missing = Math.min(1, needed[fresh.size > 0 ? 'fresh' : 'repeated'] - network.lookups)
    wakeAfter(Math.max(1, Math.ceil(missing * unknownKeyLookupEveryMs)), () => {
      network.isWakeSet = false
      startWaiting(network)
    })
  }

  return {
    enter(address, { keyHash, isRepeated }) {
      const nowMs = clock.monotonicMs()
      const network = networkFor(networks, networkOf(address), nowMs)
      refill(network, nowMs)
      const kind = isRepeated ? 'repeated' : 'fresh'
      if (network.waiting.fresh.size === 0 && network.lookups >= needed[kind]) return turnOf(network)
      const queue = network.waiting[kind]
      const known = queue.get(keyHash)
      if (known) return known.turn.promise
      const waiter = { turn: Promise.withResolvers<Turn>(), sinceMs: nowMs }
      makeRoom(queue)
      queue.set(keyHash, waiter)
      wakeLater(network)
      return waiter.turn.promise
    },
  }
}

function networkFor(networks: Map<string, Network>, name: string, nowMs: number): Network {
  const known = networks.get(name)
  if (known) return known
  for (const oldest of networks.keys()) {
    if (networks.size < authenticationAddressesMax) break
    networks.delete(oldest)
  }
  const network = {
    lookups: unknownKeyLookupsMax,
    refilledAtMs: nowMs,
    waiting: { fresh: new Map<string, Waiter>(), repeated: new Map<string, Waiter>() },
    isWakeSet: false,
  }
  networks.set(name, network)
  return network
}

function refill(network: Network, nowMs: number): void {
  const gained = (nowMs - network.refilledAtMs) / unknownKeyLookupEveryMs
  network.lookups = Math.min(unknownKeyLookupsMax, network.lookups + gained)
  network.refilledAtMs = nowMs
}

/** The newest first: when more guesses come than can be looked up, a good key that comes after them is still served. */
function grantNewest(queue: Map<string, Waiter>, turn: () => Turn): void {
  const newest = [...queue].at(-1)
  if (!newest) return
  queue.delete(newest[0])
  newest[1].turn.resolve(turn())
}

function refuseLate(queue: Map<string, Waiter>, nowMs: number): void {
  for (const [keyHash, waiter] of queue) {
    if (waiter.sinceMs + unknownKeyWaitMsMax > nowMs) return
    queue.delete(keyHash)
    waiter.turn.reject(tooMany())
  }
}

function makeRoom(queue: Map<string, Waiter>): void {
  for (const [oldest, waiter] of queue) {
    if (queue.size < unknownKeysWaitingMax) return
    queue.delete(oldest)
    waiter.turn.reject(tooMany())
  }
}

function tooMany(): GatewayError {
  return new GatewayError(
    'rate_limit_exceeded',
    'Too many unknown keys come from this address. Try again in a moment.',
    { retryAfterSeconds: Math.ceil(unknownKeyLookupEveryMs / 1000) },
  )
}

/** The first four groups of an IPv6 address; any other address as it is. */
function networkOf(address: string): string {
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
