import { afterAll, expect, test } from 'bun:test'
import { startSimulator } from '../../simulator/server.ts'
import { prepareGateway } from '../story/real-gateway.ts'

// The checks that the console shows: the gateway runs `headrace doctor` as a process of its own, with its own settings.

const key = 'doctor-inference-key-of-forty-characters-1'
const managementKey = 'doctor-management-key-of-forty-characters-1'
const simulator = await startSimulator({ port: 0, quiet: true, seed: 3 })
const gateway = prepareGateway({
  providers: ['near', 'far'].map((id) => ({
    id,
    preset: 'custom',
    base_url: `${simulator.url}/p/${id}/v1`,
    api_key: 'any',
    only_models: true,
    models: [
      {
        id: 'maker/model',
        upstream: 'gpt-4o-mini',
        prices: { input_per_million: '1', output_per_million: '1' },
      },
    ],
  })),
  names: {
    fast: {
      groups: [[{ model: 'maker/model', provider: 'near' }], [{ model: 'maker/model', provider: 'far' }]],
    },
  },
})
afterAll(async () => {
  await gateway.remove()
  await simulator.stop()
})

interface Finding {
  level: string
  subject: string
  message: string
  next: string | null
}

async function examine(): Promise<{ status: number; problems: number; findings: Finding[] }> {
  const response = await fetch(`${gateway.baseUrl}/headrace/doctor`, {
    headers: { authorization: `Bearer ${managementKey}` },
  })
  const { data } = (await response.json()) as { data: { problems: number; findings: Finding[] } }
  return { status: response.status, ...data }
}

test('doctor over HTTP finds a healthy gateway healthy, and then a name whose first group is dead', async () => {
  await gateway.start({
    HEADRACE_BOOTSTRAP_KEY: key,
    HEADRACE_BOOTSTRAP_MANAGEMENT_KEY: managementKey,
    HEADRACE_BOOTSTRAP_CREDITS: '5',
  })
  const healthy = await examine()
  expect([healthy.status, healthy.findings.filter(({ level }) => level === 'problem')]).toEqual([200, []])
  const okOf = (subject: string) =>
    healthy.findings.filter((finding) => finding.subject === subject && finding.level === 'ok').length
  for (const subject of ['configuration', 'storage', 'money', 'gateway', 'names'])
    expect([subject, okOf(subject) > 0]).toEqual([subject, true])

  await fetch(`${simulator.url}/admin/faults?mount=near`, {
    method: 'POST',
    body: JSON.stringify([{ fault: 'status=401' }]),
  })
  const answer = await fetch(`${gateway.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'fast', messages: [{ role: 'user', content: 'Hello.' }] }),
  })
  expect([answer.status, answer.ok ? '' : await answer.text()]).toEqual([200, ''])
  const findsIt = ({ findings }: { findings: readonly Finding[] }) =>
    findings.find(({ subject, level }) => subject === 'names' && level === 'problem')
  // A process says every two seconds how it is, and an answer of the checks counts for five.
  const untilMs = Date.now() + 120_000
  let ill = await examine()
  while (findsIt(ill) === undefined && Date.now() < untilMs) {
    await Bun.sleep(1_000)
    ill = await examine()
  }
  expect(findsIt(ill)).toMatchObject({
    message: 'the first group of "fast" fails (maker/model at near); its calls go to the groups behind it',
    next: expect.stringContaining('npx headrace requests --model maker/model'),
  })
  expect(ill.problems).toBeGreaterThanOrEqual(2)
  const viewer = await fetch(`${gateway.baseUrl}/headrace/doctor`, {
    headers: { authorization: `Bearer ${key}` },
  })
  expect(viewer.status).toBe(403)
}, 300_000)
