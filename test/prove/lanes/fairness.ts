import {
  sandboxProvider,
  startTestGateway,
  type TestGateway,
  type TestOrganization,
  until,
} from '../../support/gateway.ts'
import type { Proof, ProofResult } from '../proof.ts'

/** Calls at once that the operator allows, and how long the provider takes for each: 40 items a second. */
const places = 16
const answerMs = 400
const largeItems = 100_000
const smallItems = 100
const organizationsCount = 10
/** How far the time of a small batch may be from what its size needs. */
const tolerance = 0.5
/** A process that has run for this long is past the care of its first seconds. */
const provenMs = 60_000
const batchMsMax = 180_000

export const proof: Proof = {
  title:
    'one batch of 100,000 items beside ten of 100 from other organizations: the small ones need what their size needs ± 50 %',
  run: measureFairness,
}

async function measureFairness(): Promise<ProofResult> {
  let leapMs = 0
  const clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() + leapMs }
  const gateway = await startTestGateway({
    hooks: { writeLog: () => undefined, clock },
    providers: (url) => [sandboxProvider(url, { concurrency: places })],
  })
  try {
    leapMs = provenMs
    await gateway.admin('faults', [{ match: { path: '/chat/completions' }, fault: `latency=${answerMs}` }])
    const organizations = await Promise.all(
      Array.from({ length: organizationsCount }, () => gateway.addOrganization({ batchesPerMinute: null })),
    )
    // The first batches of a process find the provider's room.
    await runAll(gateway, organizations.slice(0, 1))
    const alone = await runAll(gateway, organizations)
    const large = await createBatch(gateway, gateway.key, largeItems)
    await until(
      async () => completedOf(await gateway.get(`/batches/${large}`)),
      (completed) => completed >= places * 5,
      batchMsMax,
    )
    const before = completedOf(await gateway.get(`/batches/${large}`))
    const beside = await runAll(gateway, organizations)
    const ofLarge = completedOf(await gateway.get(`/batches/${large}`)) - before
    await gateway.post(`/batches/${large}/cancel`, {})
    return judge({ alone, beside, ofLarge })
  } finally {
    await gateway.stop()
  }
}

function judge({
  alone,
  beside,
  ofLarge,
}: {
  alone: readonly number[]
  beside: readonly number[]
  ofLarge: number
}): ProofResult {
  // Ten organizations share alone what eleven share then.
  const neededMs = (mean(alone) * (organizationsCount + 1)) / organizationsCount
  const ratios = beside.map((ms) => ms / neededMs)
  const isFair = ratios.every((ratio) => Math.abs(ratio - 1) <= tolerance)
  const seconds = (ms: number) => (ms / 1000).toFixed(1)
  return {
    status: isFair && ofLarge > 0 ? 'PASS' : 'FAIL',
    figures: [
      `alone: ${seconds(Math.min(...alone))} to ${seconds(Math.max(...alone))} s, beside the large batch: ${seconds(Math.min(...beside))} to ${seconds(Math.max(...beside))} s`,
      `of what their size needs (${seconds(neededMs)} s): ${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}, mean ${mean(ratios).toFixed(2)}`,
      `the large batch went on meanwhile: ${ofLarge} items`,
    ],
  }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** Runs a small batch of each organization at the same time; resolves with how long each took. */
function runAll(gateway: TestGateway, organizations: readonly TestOrganization[]): Promise<number[]> {
  return Promise.all(
    organizations.map(async ({ key }) => {
      const startMs = performance.now()
      const id = await createBatch(gateway, key, smallItems)
      await until(
        async () => (await gateway.get(`/batches/${id}`, { key })).json['status'],
        (status) => status === 'completed',
        batchMsMax,
      )
      return performance.now() - startMs
    }),
  )
}

async function createBatch(gateway: TestGateway, key: string, items: number): Promise<string> {
  const requests = Array.from({ length: items }, (_, index) => ({
    custom_id: `item-${index}`,
    body: { messages: [{ role: 'user', content: `question ${index}` }], max_tokens: 4 },
  }))
  const body = { endpoint: '/v1/chat/completions', model: 'openai/gpt-4o-mini', requests }
  const created = await gateway.post('/batches', body, { key })
  if (created.status !== 202) throw new Error(`a batch was not accepted: ${created.text.slice(0, 300)}`)
  return String(created.json['id'])
}

function completedOf({ json }: { json: Record<string, unknown> }): number {
  return (json['request_counts'] as { completed: number }).completed
}
