import { join } from 'node:path'
import { prepareGateway } from '../../story/real-gateway.ts'
import { startPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { startScriptedUpstream } from '../../support/scripted-upstream.ts'
import { observation, type Check } from '../observations.ts'

const key = 'sk-dead-owner-inference-00001'
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
/** Longer than a dead process's leases last. */
const patienceMs = 20_000

const models = [
  {
    id: 'acme/dear',
    modality: 'language',
    prices: { input_per_million: '1000', output_per_million: '1000' },
  },
]

export const proof = observation({
  title: '402 means there is no money: what a dead process holds is waited for and then told as 503',
  missing: whyNoPostgres,
  async observe(): Promise<Check[]> {
    const postgres = await startPostgres()
    const upstream = startScriptedUpstream()
    const provider = { preset: 'custom', id: 'acme', base_url: upstream.url, discover: false, models }
    const [dying, living] = [0, 1].map(() => prepareGateway({ providers: [provider] }))
    if (!dying || !living) throw new Error('two gateways were prepared')
    const env = {
      DATABASE_URL: postgres.url,
      HEADRACE_DATA: join(dying.folder, 'data'),
      HEADRACE_BOOTSTRAP_KEY: key,
      HEADRACE_BOOTSTRAP_CREDITS: '5',
    }
    try {
      await dying.start(env)
      await living.start(env)
      const asked = Promise.withResolvers<void>()
      upstream.answer(() => {
        asked.resolve()
        return new Promise(() => undefined)
      })
      ask(dying.baseUrl).catch(() => undefined)
      await asked.promise
      await dying.end('SIGKILL')
      upstream.answer(() => Response.json(answer))
      return await observeAfterDeath(living.baseUrl)
    } finally {
      await Promise.all([dying.remove(), living.remove()])
      await upstream.stop()
      await postgres.stop()
    }
  },
})

const answer = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'dear',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
}

/** A call that sets four of the five credits aside. */
async function ask(baseUrl: string): Promise<{ status: number; retryAfter: number }> {
  const body = { model: 'acme/dear', max_tokens: 4_000, messages: [{ role: 'user', content: 'Hello.' }] }
  const request = { method: 'POST', headers, body: JSON.stringify(body) }
  const response = await fetch(`${baseUrl}/chat/completions`, request)
  await response.text()
  return { status: response.status, retryAfter: Number(response.headers.get('retry-after') ?? 0) }
}

async function observeAfterDeath(baseUrl: string): Promise<Check[]> {
  const sinceMs = performance.now()
  const seen: { status: number; retryAfter: number; atMs: number }[] = []
  do {
    seen.push({ ...(await ask(baseUrl)), atMs: performance.now() - sinceMs })
    await Bun.sleep(250)
  } while (seen.at(-1)?.status !== 200 && performance.now() - sinceMs < patienceMs)
  const served = seen.at(-1)?.status === 200
  const refused = seen.filter(({ status }) => status === 402).length
  const told = seen.filter(({ status, retryAfter }) => status === 503 && retryAfter >= 1 && retryAfter <= 9)
  const last = ((seen.at(-1)?.atMs ?? 0) / 1_000).toFixed(1)
  return [
    {
      name: 'a call that what a dead process holds would pay for is told 503 with Retry-After, never 402',
      held: served && refused === 0 && told.length === seen.length - 1,
      seen: `${refused} times 402, ${told.length} times 503 with Retry-After, served after ${last} s`,
    },
  ]
}
