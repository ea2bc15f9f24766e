import { afterAll, describe, expect, test } from 'bun:test'
import { prepareGateway, type RealGateway } from '../story/real-gateway.ts'
import { startPostgres, type TestPostgres, whyNoPostgres } from '../support/postgres.ts'
import { startS3, type TestS3, whyNoS3 } from '../support/s3-server.ts'

const reason = whyNoS3() ?? whyNoPostgres()
if (reason !== null) console.warn(`skipped: ${reason}`)

const key = 'prove-inference-key-00000000000001'
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
const itemCount = 60
const msMax = 180_000

const closers: (() => unknown)[] = []
afterAll(async () => {
  for (const close of closers.toReversed()) await close()
}, msMax)

let servers: Promise<{ s3: TestS3; postgres: TestPostgres }> | null = null

async function startServers(): Promise<{ s3: TestS3; postgres: TestPostgres }> {
  const s3 = await startS3()
  closers.push(() => s3.stop())
  const postgres = await startPostgres()
  closers.push(() => postgres.stop())
  return { s3, postgres }
}

function newGateway(): RealGateway {
  const gateway = prepareGateway(null)
  closers.push(() => gateway.remove())
  return gateway
}

const body = JSON.stringify({
  endpoint: '/v1/chat/completions',
  model: 'openai/gpt-4o-mini',
  requests: Array.from({ length: itemCount }, (_, index) => ({
    custom_id: `item-${index}`,
    body: {
      messages: [{ role: 'user', content: `Say ${index}. ${'and so on '.repeat(200)}` }],
      max_tokens: 20,
    },
  })),
})

interface Shown {
  id: string
  status: string
  results: { custom_id: string; error: unknown }[] | null
}

async function post(gateway: RealGateway): Promise<{ status: number; body: Shown }> {
  const response = await fetch(`${gateway.baseUrl}/batches`, { method: 'POST', headers, body })
  return { status: response.status, body: (await response.json()) as Shown }
}

async function untilEnded(gateway: RealGateway, id: string): Promise<Shown> {
  const endMs = performance.now() + msMax / 2
  while (performance.now() < endMs) {
    const response = await fetch(`${gateway.baseUrl}/batches/${id}`, { headers })
    const shown = (await response.json()) as Shown
    if (shown.status === 'completed') return shown
    await Bun.sleep(200)
  }
  throw new Error('the batch did not end in time')
}

describe.skipIf(reason !== null)('gateways on PostgreSQL and S3', () => {
  test(
    'two processes without a folder in common are one gateway, and a cut to the server loses nothing',
    async () => {
      const { s3, postgres } = await (servers ??= startServers())
      const settings = s3.makeBucket()
      const env = { DATABASE_URL: postgres.url, HEADRACE_BOOTSTRAP_KEY: key, ...s3.environmentOf(settings) }
      const [front, worker] = [newGateway(), newGateway()]
      await front.start({ ...env, HEADRACE_ROLE: 'api' })
      await worker.start({ ...env, HEADRACE_ROLE: 'worker' })

      const accepted = await post(front)
      expect(accepted.status).toBe(202)
      const ended = await untilEnded(front, accepted.body.id)
      expect(ended.results?.map(({ custom_id }) => custom_id)).toEqual(
        Array.from({ length: itemCount }, (_, index) => `item-${index}`),
      )
      expect(ended.results?.every(({ error }) => error === null)).toBe(true)

      const second = await post(front)
      await s3.kill()
      const refused = await post(front)
      expect(refused.status).toBe(502)
      expect(JSON.stringify(refused.body)).not.toContain(settings.bucket)
      await s3.start()
      expect((await untilEnded(front, second.body.id)).results).toHaveLength(itemCount)

      const doctor = await front.run(['doctor'], env)
      expect(doctor.output).toContain(`payloads`)
      expect(doctor.output).toContain(`s3://${settings.bucket}/${settings.prefix} at ${s3.endpoint}`)
    },
    msMax,
  )

  test(
    'a wrong secret, and a bucket without the payloads, are refused at the start, which names the variable',
    async () => {
      const { s3, postgres } = await (servers ??= startServers())
      const settings = s3.makeBucket()
      const env = { DATABASE_URL: postgres.url, HEADRACE_BOOTSTRAP_KEY: key, ...s3.environmentOf(settings) }
      const gateway = newGateway()
      const start = (change: Record<string, string>): Promise<string> =>
        gateway.start({ ...env, ...change }).then(
          () => 'started',
          (error: unknown) => String(error),
        )
      const secret = 'not-the-secret-of-this-key'
      const wrong = await start({ AWS_SECRET_ACCESS_KEY: secret })
      expect(wrong).toContain('AWS_SECRET_ACCESS_KEY is not the secret of AWS_ACCESS_KEY_ID')
      expect(wrong).not.toContain(secret)
      expect(await start({})).toContain('set BLOB_URL to the bucket and prefix they are in')
    },
    msMax,
  )
})
