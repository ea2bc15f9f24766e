import { afterAll, expect, test } from 'bun:test'
import { at, startTestGateway, until } from '../support/gateway.ts'

// A dollar for a million tokens of input and two for output, so that half of it is easy to see.
const prices = { input_per_million: '1', output_per_million: '2' }

/** Providers with a batch service, at mounts of their own, and what of theirs must be gone in the end. */
const services = [
  {
    preset: 'groq',
    mount: 'groq',
    below: '/v1',
    upstream: 'gpt-4o-mini',
    create: '/v1/batches',
    keepsJobs: true,
  },
  {
    preset: 'mistral',
    mount: 'mistral',
    below: '/v1',
    upstream: 'gpt-4o-mini',
    create: '/v1/batch/jobs',
    keepsJobs: false,
  },
  {
    preset: 'google-ai-studio',
    mount: 'gemini',
    below: '/v1beta',
    upstream: 'gemini-2.5-flash',
    create: '/v1beta/models/gemini-2.5-flash:batchGenerateContent',
    keepsJobs: false,
  },
]

const gateway = await startTestGateway({
  credits: '10',
  providers: (url) =>
    services.map(({ preset, mount, below, upstream }) => ({
      preset,
      base_url: `${url}/p/${mount}${below}`,
      api_key: 'sk-test',
      weight: 1,
      discover: false,
      models: [{ id: `test/${mount}`, upstream, prices }],
    })),
})
afterAll(() => gateway.stop())

const say = (text: string) => ({ messages: [{ role: 'user', content: text }], max_tokens: 30 })

interface Usage {
  prompt_tokens: number
  completion_tokens: number
  cost: number
}

async function ended(id: string) {
  const { json } = await until(
    () => gateway.get(`/batches/${id}`),
    (answer) => ['completed', 'failed', 'expired', 'cancelled'].includes(String(answer.json['status'])),
    90_000,
  )
  return json
}

/** Until nothing of this provider's jobs is left there. */
function cleared(mount: string, keepsJobs: boolean) {
  return until(
    async () =>
      at(await gateway.admin(`counters?requests=0&mount=${mount}`), 'batches') as Record<string, number>,
    (counts) => counts['files_left'] === 0 && (keepsJobs || counts['batches_made'] === 0),
    60_000,
  )
}

for (const { mount, create, keepsJobs } of services) {
  for (const endpoint of ['/v1/chat/completions', '/v1/messages']) {
    test(`${mount} runs a batch of ${endpoint} as a job of its own, at half the price, and keeps nothing`, async () => {
      await gateway.admin('settings', { mount, job_looks: 0 })
      const created = await gateway.post('/batches', {
        endpoint,
        model: `test/${mount}`,
        headrace: { lane: 'native' },
        requests: [0, 1, 2].map((index) => ({ custom_id: `item-${index}`, body: say(`say ${index}`) })),
      })
      expect(created.status).toBe(202)
      const batch = await ended(String(created.json['id']))
      expect(batch).toMatchObject({
        status: 'completed',
        request_counts: { total: 3, completed: 3, failed: 0 },
      })
      const jobs = at(batch, 'headrace_metadata.jobs')
      expect(jobs).toMatchObject([{ state: 'ended', items: 3, ended_as: 'completed' }])
      const usage = batch['usage'] as Usage
      const halfMicrodollars = (usage.prompt_tokens + 2 * usage.completion_tokens) / 2
      expect(Math.round(usage.cost * 1e9)).toBe(Math.round(halfMicrodollars * 1e3))
      await cleared(mount, keepsJobs)
    }, 200_000)
  }

  test(`${mount}: a job whose creating request got no answer is found, and not made twice`, async () => {
    await gateway.admin('settings', { mount, job_looks: 0 })
    const lost = { match: { path: create, method: 'POST' }, fault: 'cut_after=0', times: 1 }
    await gateway.admin('faults', { mount, rules: [lost] })
    const before = at(await gateway.admin(`counters?requests=0&mount=${mount}`), 'batches.lines_run')
    const created = await gateway.post('/batches', {
      endpoint: '/v1/chat/completions',
      model: `test/${mount}`,
      headrace: { lane: 'native' },
      requests: [0, 1].map((index) => ({ custom_id: `item-${index}`, body: say(`say ${index}`) })),
    })
    const batch = await ended(String(created.json['id']))
    expect(batch).toMatchObject({ status: 'completed', request_counts: { completed: 2, failed: 0 } })
    const after = at(await gateway.admin(`counters?requests=0&mount=${mount}`), 'batches.lines_run')
    expect(Number(after) - Number(before)).toBe(2)
    await cleared(mount, keepsJobs)
  }, 200_000)

  test(`${mount}: a line that is refused is its item's error, and is not billed`, async () => {
    await gateway.admin('settings', { mount, job_looks: 0 })
    const refused = { match: { path: create, method: 'POST' }, fault: 'batch_lines_failed=1', times: 1 }
    await gateway.admin('faults', { mount, rules: [refused] })
    const created = await gateway.post('/batches', {
      endpoint: '/v1/chat/completions',
      model: `test/${mount}`,
      headrace: { lane: 'native' },
      requests: [0, 1].map((index) => ({ custom_id: `item-${index}`, body: say(`say ${index}`) })),
    })
    const batch = await ended(String(created.json['id']))
    expect(at(batch, 'request_counts')).toEqual({ total: 2, completed: 1, failed: 1 })
    const results = batch['results'] as {
      error: object | null
      response: { body: { usage: Usage } } | null
    }[]
    const costs = results.map(({ response }) => response?.body.usage?.cost ?? 0)
    expect(costs.filter((cost) => cost > 0)).toHaveLength(1)
    expect(at(batch, 'usage.cost')).toBe(Math.max(...costs))
    await cleared(mount, keepsJobs)
  }, 200_000)
}
