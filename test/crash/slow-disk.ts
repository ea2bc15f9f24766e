import type { GatewayProcess } from './gateway-process.ts'
import { createWorld, type DatabaseName, inferenceKey, model } from './world.ts'

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
  /** The 99th percentile of the longest blocks of quarter seconds. */
  usualBlockMs: number
}

const seconds = 10
const warmUpCalls = 200
const sampleEveryMs = 250

/** Calls at a fixed rate, whatever comes of them, against gateways whose every durable commit takes longer. */
export async function measureSlowDisk(options: {
  database: DatabaseName
  processes: number
  fsyncDelayMs: number
  perSecond: number
}): Promise<LoadFigures> {
  const { database, processes, fsyncDelayMs, perSecond } = options
  const world = await createWorld({ database, credits: '100' })
  try {
    const gateways = await Promise.all(Array.from({ length: processes }, () => world.start({ fsyncDelayMs })))
    await Promise.all(Array.from({ length: warmUpCalls }, (_, index) => timeOf(gateways[index % processes])))
    const blocks: number[] = []
    await Promise.all(gateways.map(takeLongestBlock))
    const sampling = setInterval(() => {
      for (const gateway of gateways) void takeLongestBlock(gateway).then((ms) => blocks.push(ms))
    }, sampleEveryMs)
    const startMs = performance.now()
    const times = await offer(gateways, perSecond)
    const tookSeconds = (performance.now() - startMs) / 1000
    clearInterval(sampling)
    const good = times.filter((ms) => ms !== null).toSorted((left, right) => left - right)
    const sorted = blocks.toSorted((left, right) => left - right)
    return {
      processes,
      fsyncDelayMs,
      offeredPerSecond: perSecond,
      answeredPerSecond: Math.round(good.length / tookSeconds),
      failed: times.length - good.length,
      medianMs: at(good, 0.5),
      p99Ms: at(good, 0.99),
      longestBlockMs: at(sorted, 1),
      usualBlockMs: at(sorted, 0.99),
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

/** Milliseconds; reading it begins the measuring anew. */
async function takeLongestBlock(gateway: GatewayProcess): Promise<number> {
  const response = await fetch(gateway.baseUrl.replace(/\/v1$/, '/metrics'))
  const found = /^headrace_event_loop_block_seconds(?:\{[^}]*\})? (\S+)$/m.exec(await response.text())
  if (!found) throw new Error('the gateway does not say how long its loop was blocked')
  return Number(found[1]) * 1000
}

const at = (sorted: readonly number[], share: number): number =>
  Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0) * 10) / 10
