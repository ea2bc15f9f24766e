import { SQL } from 'bun'
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { prepareGateway, type RealGateway } from '../../story/real-gateway.ts'
import { startPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { observation, type Check } from '../observations.ts'
import { rootOf, versionOfFirstAttack, whyNoVersion } from '../earlier-versions.ts'

const key = 'prove-inference-key-00000000000001'
const itemCount = 4

export const proof = observation({
  title: 'processes that share a database share the payloads, or do not start',
  missing: () => whyNoPostgres() ?? whyNoVersion(versionOfFirstAttack),
  async observe(): Promise<Check[]> {
    const server = await startPostgres()
    try {
      const onPostgres = await observeSecond({ name: 'PostgreSQL', urlOf: () => server.url })
      const onSqlite = await observeSecond({
        name: 'SQLite',
        urlOf: (first) => `sqlite:${first.databasePath}`,
      })
      return [...onPostgres, ...onSqlite, await observeUpgrade(await createDatabase(server.url))]
    } finally {
      await server.stop()
    }
  },
})

/** A second process with a data folder of its own, while the first runs. */
async function observeSecond(world: {
  name: string
  urlOf: (first: RealGateway) => string
}): Promise<Check[]> {
  const { name, urlOf } = world
  const [first, second] = [prepareGateway(null), prepareGateway(null)]
  const env = { DATABASE_URL: urlOf(first), HEADRACE_BOOTSTRAP_KEY: key }
  try {
    mkdirSync(dirname(first.databasePath), { recursive: true })
    await first.start(env)
    await createBatch(first)
    const refusal = await startedOr(second, env)
    mkdirSync(dirname(second.databasePath), { recursive: true })
    const doctor = await second.run(['doctor'], env)
    const tells = doctor.output.split('\n').find((line) => line.includes('✗ payloads')) ?? null
    return [
      {
        name: `${name}: a second process with another data folder does not start, and both folders are named`,
        held: [first, second].every((gateway) => refusal.includes(blobsOf(gateway))),
        seen: refusal === 'started' ? 'it started' : 'refused',
      },
      {
        name: `${name}: doctor beside it says so`,
        held: doctor.code === 1 && tells !== null,
        seen: tells === null ? 'found nothing' : 'a problem with the payloads',
      },
    ]
  } finally {
    await second.remove()
    await first.remove()
  }
}

/** A database of the version before, with a batch whose payloads are in its own folder. */
async function observeUpgrade(url: string): Promise<Check> {
  const before = prepareGateway(null, rootOf(versionOfFirstAttack))
  const [wrong, right] = [prepareGateway(null), prepareGateway(null)]
  const env = { DATABASE_URL: url, HEADRACE_BOOTSTRAP_KEY: key }
  try {
    await before.start(env)
    const id = await createBatch(before)
    await before.end('SIGTERM')
    const refusal = await startedOr(wrong, env)
    await wrong.end('SIGKILL')
    await right.start({ ...env, HEADRACE_DATA: dirname(before.databasePath) })
    const results = await readResults(right, id)
    return {
      name: 'a database of before takes the folder with its payloads, and no other',
      held: refusal.includes(blobsOf(wrong)) && results === itemCount,
      seen: `${refusal === 'started' ? 'started on an empty folder' : 'refused an empty folder'}, ${results} results`,
    }
  } finally {
    await right.remove()
    await wrong.remove()
    await before.remove()
  }
}

function startedOr(gateway: RealGateway, env: Record<string, string>): Promise<string> {
  return gateway.start(env).then(
    () => 'started',
    (error: unknown) => String(error),
  )
}

function blobsOf(gateway: RealGateway): string {
  return join(dirname(gateway.databasePath), 'blobs')
}

async function createDatabase(serverUrl: string): Promise<string> {
  const server = new SQL({ url: serverUrl, max: 1 })
  await server.unsafe('create database upgraded')
  await server.close()
  const url = new URL(serverUrl)
  url.pathname = '/upgraded'
  return url.href
}

const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }

async function createBatch(gateway: RealGateway): Promise<string> {
  const requests = Array.from({ length: itemCount }, (_, index) => ({
    custom_id: `item-${index}`,
    body: { messages: [{ role: 'user', content: `Say ${index}.` }], max_tokens: 20 },
  }))
  const body = JSON.stringify({ endpoint: '/v1/chat/completions', model: 'openai/gpt-4o-mini', requests })
  const response = await fetch(`${gateway.baseUrl}/batches`, { method: 'POST', headers, body })
  const batch = (await response.json()) as { id?: string }
  if (response.status !== 202 || batch.id === undefined) throw new Error(JSON.stringify(batch))
  return batch.id
}

/** How many results the batch has once it has ended. */
async function readResults(gateway: RealGateway, id: string): Promise<number> {
  for (let tries = 0; tries < 150; tries++) {
    const response = await fetch(`${gateway.baseUrl}/batches/${id}`, { headers })
    const batch = (await response.json()) as { status: string; results: unknown[] | null }
    if (batch.status === 'completed') return batch.results?.length ?? 0
    await Bun.sleep(100)
  }
  return 0
}
