import { startSimulator } from '../../../simulator/server.ts'
import { prepareGateway, type RealGateway } from '../../story/real-gateway.ts'
import { observation, type Check } from '../observations.ts'

const key = 'prove-inference-key-0001'
const waitMsMax = 30_000

interface Cause {
  name: string
  type: string
  items: number
  apiKey?: string
  fault?: string
  /** Of a prepaid account: enough for what the batch is expected to cost, and too little for one item at its worst. */
  credits?: string
}

/** A rate, a credential and an error of the provider, and money, each as an operator meets it. */
const causes: readonly Cause[] = [
  { name: 'a failing provider', type: 'provider_failed', items: 10, fault: 'status=500' },
  { name: 'a limited rate', type: 'upstream_rate_limited', items: 10, fault: 'status=429;retry_after=30' },
  { name: 'no endpoint', type: 'no_healthy_endpoint', items: 40, apiKey: 'bad-key-1' },
  { name: 'no credits', type: 'payment_required', items: 10, credits: '0.0085' },
]

export const proof = observation({
  title: 'a batch that does not move says why: how many items wait, for what, since when, until when',
  async observe(): Promise<Check[]> {
    const checks: Check[] = []
    for (const cause of causes) checks.push(...(await observeCause(cause)))
    return checks
  },
})

async function observeCause(cause: Cause): Promise<Check[]> {
  const simulator = await startSimulator({ port: 0, quiet: true, seed: 3 })
  const provider = { preset: 'sandbox', base_url: `${simulator.url}/v1`, api_key: cause.apiKey ?? 'x' }
  const gateway = prepareGateway({ providers: [provider] })
  try {
    const rules = cause.fault === undefined ? [] : [{ match: {}, fault: cause.fault }]
    const faults = JSON.stringify({ mount: 'default', rules })
    await fetch(`${simulator.url}/admin/faults`, { method: 'POST', body: faults })
    await gateway.start({
      HEADRACE_BOOTSTRAP_KEY: key,
      ...(cause.credits === undefined ? {} : { HEADRACE_BOOTSTRAP_CREDITS: cause.credits }),
    })
    const id = await upload(gateway, cause.items)
    return await lookEverywhere({ cause, gateway, id })
  } finally {
    await gateway.remove()
    await simulator.stop()
  }
}

interface Stuck {
  cause: Cause
  gateway: RealGateway
  id: string
}

async function lookEverywhere({ cause, gateway, id }: Stuck): Promise<Check[]> {
  const { name, type } = cause
  const waiting = await untilWaiting({ cause, gateway, id })
  const nowSeconds = Date.now() / 1_000
  const { items, since, next_try_at: nextTryAt } = waiting
  const isTold =
    waiting['type'] === type &&
    Number(items) > 0 &&
    Number(items) <= cause.items &&
    Math.abs(Number(since) - nowSeconds) < 60 &&
    Math.abs(Number(nextTryAt) - nowSeconds) < 600
  const { output: watched } = await gateway.run(
    ['batch', 'watch', id],
    { HEADRACE_API_KEY: key },
    { signal: 'SIGINT', after: '%' },
  )
  const { output: diagnosed } = await gateway.run(['doctor'])
  const counted = await metricOf(gateway, type)
  const sentence = new RegExp(`\\d+ items? waits? for ${type} since .*, tried next at `)
  return [
    { name: `${name}: the batch object`, held: isTold, seen: JSON.stringify(waiting).slice(0, 120) },
    { name: `${name}: batch watch`, held: sentence.test(watched), seen: lineOf(watched, type) },
    { name: `${name}: doctor`, held: sentence.test(diagnosed), seen: lineOf(diagnosed, type) },
    { name: `${name}: a metric`, held: counted !== null, seen: counted ?? 'none' },
  ]
}

/** A worker counts at every look, which is once a second. */
async function metricOf({ baseUrl }: RealGateway, type: string): Promise<string | null> {
  const pattern = new RegExp(`^headrace_batch_items_waiting\\{type="${type}"\\} [1-9].*$`, 'm')
  for (let look = 0; look < 10; look += 1) {
    const metrics = await (await fetch(baseUrl.replace(/\/v1$/, '/metrics'))).text()
    const found = pattern.exec(metrics)
    if (found) return found[0]
    await Bun.sleep(300)
  }
  return null
}

function lineOf(output: string, type: string): string {
  return (
    output
      .split('\n')
      .find((line) => line.includes(type))
      ?.trim()
      .slice(0, 120) ?? 'not mentioned'
  )
}

/** What the object says once it names the cause, or in the end. */
async function untilWaiting({ cause, gateway, id }: Stuck): Promise<Record<string, unknown>> {
  const endMs = performance.now() + waitMsMax
  let waiting: Record<string, unknown> = {}
  do {
    await Bun.sleep(300)
    const response = await fetch(`${gateway.baseUrl}/batches/${id}`, { headers })
    const batch = (await response.json()) as { headrace_metadata?: { waiting?: Record<string, unknown> } }
    waiting = batch.headrace_metadata?.waiting ?? {}
  } while ((waiting['type'] !== cause.type || waiting['items'] === undefined) && performance.now() < endMs)
  return waiting
}

const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }

async function upload({ baseUrl }: RealGateway, items: number): Promise<string> {
  const requests = Array.from({ length: items }, (_, index) => ({
    custom_id: `item-${index}`,
    body: { messages: [{ role: 'user', content: `say ${index}` }] },
  }))
  const body = JSON.stringify({ endpoint: '/v1/chat/completions', model: 'openai/gpt-4o-mini', requests })
  const response = await fetch(`${baseUrl}/batches`, { method: 'POST', headers, body })
  const answer = (await response.json()) as { id?: string }
  if (answer.id === undefined) throw new Error(`the batch was refused: ${JSON.stringify(answer)}`)
  return answer.id
}
