import { existsSync, readFileSync } from 'node:fs'
import type { GatewayProcess } from './gateway-process.ts'
import { createWorld, inferenceKey, model } from './world.ts'
import type { DialectName } from '../../src/storage/dialect.ts'

/** One load: how much was answered in its time and how long the loop was blocked at the most. */
export interface LoadFigures {
  processes: number
  fsyncDelayMs: number
  offeredPerSecond: number
  answeredPerSecond: number
  failed: number
  medianMs: number
  p99Ms: number
  /** Longest block of a gateway's event loop, by its own metric; the worst of all processes. */
  longestBlockMs: number
  /** The same without the time in which its thread waited for a processor, which says how busy the machine is. */
  ownBlockMs: number
  /** Share of quarter seconds without such a block above 10 ms, over all processes. */
  freeShare: number
}

const seconds = 10
const warmUpCalls = 800
const sampleEveryMs = 250
/** What docs/design.md allows. */
export const blockMsMax = 10

/** Calls at a fixed rate, whatever comes of them, against gateways whose every durable commit takes longer. */
export async function measureSlowDisk(options: {
  database: DialectName
  processes: number
  fsyncDelayMs: number
  perSecond: number
}): Promise<LoadFigures> {
  const { database, processes, fsyncDelayMs, perSecond } = options
  const world = await createWorld({ database, credits: '100' })
  try {
    const gateways = await Promise.all(Array.from({ length: processes }, () => world.start({ fsyncDelayMs })))
    await Promise.all(Array.from({ length: warmUpCalls }, (_, index) => timeOf(gateways[index % processes])))
    const watches = gateways.map((gateway) => new LoopWatch(gateway))
    await Promise.all(watches.map((watch) => watch.begin()))
    const sampling = setInterval(() => {
      for (const watch of watches) void watch.sample()
    }, sampleEveryMs)
    const startMs = performance.now()
    const times = await offer(gateways, perSecond)
    const tookSeconds = (performance.now() - startMs) / 1000
    clearInterval(sampling)
    const good = times.filter((ms) => ms !== null).toSorted((left, right) => left - right)
    return {
      processes,
      fsyncDelayMs,
      offeredPerSecond: perSecond,
      answeredPerSecond: Math.round(good.length / tookSeconds),
      failed: times.length - good.length,
      medianMs: at(good, 0.5),
      p99Ms: at(good, 0.99),
      longestBlockMs: oneDecimal(Math.max(...watches.map(({ longestMs }) => longestMs))),
      ownBlockMs: oneDecimal(Math.max(...watches.map(({ ownMs }) => ownMs))),
      freeShare: shareOf(watches.map(({ samples, freeSamples }) => [freeSamples, samples])),
    }
  } finally {
    await world.remove()
  }
}

/** Calls begin on time whether or not earlier ones have ended. */
async function offer(gateways: readonly GatewayProcess[], perSecond: number): Promise<(number | null)[]> {
  const calls: Promise<number | null>[] = []
  const startMs = performance.now()
  const total = perSecond * seconds
  while (calls.length < total) {
    const due = Math.min(total, Math.floor(((performance.now() - startMs) / 1000) * perSecond) + 1)
    while (calls.length < due) calls.push(timeOf(gateways[calls.length % gateways.length]))
    await Bun.sleep(2)
  }
  return Promise.all(calls)
}

async function timeOf(gateway: GatewayProcess | undefined): Promise<number | null> {
  const startMs = performance.now()
  const response = await fetch(`${gateway?.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${inferenceKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'disk' }], max_tokens: 5 }),
  })
  await response.arrayBuffer()
  return response.ok ? performance.now() - startMs : null
}

/** Reads one gateway's longest block again and again, with how long its loop's thread waited for a processor meanwhile. */
class LoopWatch {
  longestMs = 0
  ownMs = 0
  samples = 0
  freeSamples = 0
  readonly #gateway: GatewayProcess
  #waitedMs = 0
  #isSampling = false

  constructor(gateway: GatewayProcess) {
    this.#gateway = gateway
  }

  async begin(): Promise<void> {
    await this.#takeBlock()
    this.#waitedMs = this.#readWaited()
  }

  async sample(): Promise<void> {
    if (this.#isSampling) return
    this.#isSampling = true
    const blockMs = await this.#takeBlock()
    const waitedMs = this.#readWaited()
    this.longestMs = Math.max(this.longestMs, blockMs)
    const ownMs = blockMs - (waitedMs - this.#waitedMs)
    this.ownMs = Math.max(this.ownMs, ownMs)
    this.samples += 1
    if (ownMs <= blockMsMax) this.freeSamples += 1
    this.#waitedMs = waitedMs
    this.#isSampling = false
  }

  /** Milliseconds; reading it begins the measuring anew. */
  async #takeBlock(): Promise<number> {
    const response = await fetch(this.#gateway.baseUrl.replace(/\/v1$/, '/metrics'))
    const found = /^headrace_event_loop_block_seconds(?:\{[^}]*\})? (\S+)$/m.exec(await response.text())
    if (!found) throw new Error('the gateway does not say how long its loop was blocked')
    return Number(found[1]) * 1000
  }

  /** Milliseconds since the start in which the thread could run and no processor was free; 0 where nobody counts. */
  #readWaited(): number {
    const path = `/proc/${this.#gateway.pid}/task/${this.#gateway.pid}/schedstat`
    if (!existsSync(path)) return 0
    return Number(readFileSync(path, 'utf8').split(' ')[1]) / 1e6
  }
}

function shareOf(counts: readonly (readonly [number, number])[]): number {
  const [part, whole] = counts.reduce(([left, right], [add, more]) => [left + add, right + more], [0, 0])
  return whole === 0 ? 0 : part / whole
}

const oneDecimal = (value: number): number => Math.round(value * 10) / 10

const at = (sorted: readonly number[], share: number): number =>
  oneDecimal(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)
