import { startSimulator, type Simulator } from '../../../simulator/server.ts'
import { prepareGateway, type RealGateway } from '../../story/real-gateway.ts'
import { freshDatabase, whyNoPostgres } from '../../support/postgres.ts'
import { observation, type Check } from '../observations.ts'

const key = 'prove-inference-key-0001'
const itemsTotal = 3_000
const livesKilled = 10
const lifeMs = 800
const endMsMax = 10_000

export const proof = observation({
  title: 'a crash loop makes progress: 3,000 items, killed 800 ms after every ready, ten times',
  missing: whyNoPostgres,
  async observe(): Promise<Check[]> {
    return [...(await observeOn('sqlite', {})), ...(await observeOn('postgres', await freshDatabase()))]
  },
})

async function observeOn(name: string, env: Record<string, string>): Promise<Check[]> {
  const simulator = await startSimulator({ port: 0, quiet: true, seed: 3 })
  const provider = { preset: 'sandbox', base_url: `${simulator.url}/v1`, api_key: 'x', concurrency: 400 }
  const gateway = prepareGateway({ providers: [provider] })
  try {
    const faults = { mount: 'default', rules: [{ match: {}, fault: 'latency=50' }] }
    await fetch(`${simulator.url}/admin/faults`, { method: 'POST', body: JSON.stringify(faults) })
    const lives = await crashLoop(gateway, { ...env, HEADRACE_BOOTSTRAP_KEY: key })
    const calls = await callsOf(simulator)
    const least = Math.min(...lives.committed)
    return [
      {
        name: `${name}: every life commits at least 100 items`,
        held: least >= 100,
        seen: `[${lives.committed.join(', ')}]`,
      },
      {
        name: `${name}: the whole takes at most 1.3 calls an item`,
        held: lives.completed === itemsTotal && calls <= itemsTotal * 1.3,
        seen: `${calls} calls for ${lives.completed} items`,
      },
    ]
  } finally {
    await gateway.remove()
    await simulator.stop()
  }
}

/** What every killed life has made durable, as the next one says at its start, and what was done in the end. */
async function crashLoop(
  gateway: RealGateway,
  env: Record<string, string>,
): Promise<{ committed: number[]; completed: number }> {
  await gateway.start(env)
  const id = await upload(gateway)
  const committed: number[] = []
  let before = 0
  for (let life = 1; life <= livesKilled; life += 1) {
    await Bun.sleep(lifeMs)
    await gateway.end('SIGKILL')
    await gateway.start(env)
    const { completed } = await countsOf(gateway, id)
    // A life that found too little left to do shows nothing.
    if (itemsTotal - before >= 100) committed.push(completed - before)
    before = completed
  }
  const endMs = performance.now() + endMsMax
  while (before < itemsTotal && performance.now() < endMs) {
    await Bun.sleep(200)
    before = (await countsOf(gateway, id)).completed
  }
  return { committed, completed: before }
}

const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }

async function upload({ baseUrl }: RealGateway): Promise<string> {
  const requests = Array.from({ length: itemsTotal }, (_, index) => ({
    custom_id: `item-${index}`,
    body: { messages: [{ role: 'user', content: `say ${index}` }], max_tokens: 5 },
  }))
  const body = JSON.stringify({ endpoint: '/v1/chat/completions', model: 'openai/gpt-4o-mini', requests })
  const response = await fetch(`${baseUrl}/batches`, { method: 'POST', headers, body })
  const { id } = (await response.json()) as { id: string }
  return id
}

async function countsOf({ baseUrl }: RealGateway, id: string): Promise<{ completed: number }> {
  const response = await fetch(`${baseUrl}/batches?limit=10`, { headers })
  const { data } = (await response.json()) as {
    data: { id: string; request_counts: { completed: number } }[]
  }
  return data.find((batch) => batch.id === id)?.request_counts ?? { completed: 0 }
}

async function callsOf({ url }: Simulator): Promise<number> {
  const response = await fetch(`${url}/admin/counters?requests=0`)
  const { by_path } = (await response.json()) as { by_path: Record<string, number> }
  return by_path['/v1/chat/completions'] ?? 0
}
