/**
 * Real kills around events and files: a gateway is killed before and after every commit point of deliveries and of files,
 * started again, and asked again. No event is lost, none is told before its batch ended, no answered file lacks a byte, and
 * no deleted file comes back. `events-and-files.ts [sqlite|postgres]`. Prints figures; exits with 1 when a point was not
 * hit or anything was not as promised.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { deliveryCommitPoints } from '../../src/delivery/delivery-commit-points.ts'
import { fileCommitPoints } from '../../src/files/file-commit-points.ts'
import type { DialectName } from '../../src/storage/dialect.ts'
import { whyNoPostgres } from '../support/postgres.ts'
import { type CrashSite, keyOfPoint } from './crash-plan.ts'
import { EventReceiver } from './event-receiver.ts'
import { inferenceKey, managementKey, model, createWorld, type World } from './world.ts'

const killedMsMax = 60_000
const toldMsMax = 60_000
const masterKey = 'crash-master-key-0123456789-abcdefghij'
const terminal = new Set(['completed', 'failed', 'expired', 'cancelled'])
/** The secret first, so that all events are signed with the last one; `batch.finalize` writes the row of an event. */
const points = [
  deliveryCommitPoints.secret,
  fileCommitPoints.create,
  fileCommitPoints.delete,
  'batch.finalize',
  deliveryCommitPoints.claim,
  deliveryCommitPoints.record,
  deliveryCommitPoints.again,
]
const sites: readonly CrashSite[] = points.flatMap((point) => [
  { point, when: 'before' as const },
  { point, when: 'after' as const },
])

/** What callers were told, in one world. */
class Callers {
  readonly world: World
  readonly receiver: EventReceiver
  readonly problems: string[] = []
  readonly batches: string[] = []
  /** Answered uploads: the bytes, or null for one whose deletion was answered. */
  readonly files = new Map<string, string | null>()
  url = ''
  #uploads = 0
  #doomed: string | null = null

  constructor(world: World, receiver: EventReceiver) {
    this.world = world
    this.receiver = receiver
  }

  /** Does what passes the point; whatever breaks off with the process is done again by the next one. */
  act(point: string): Promise<void> {
    if (point === deliveryCommitPoints.secret) return this.#rotate()
    if (point === fileCommitPoints.create) return this.#upload().then(() => undefined)
    if (point === fileCommitPoints.delete) return this.#delete()
    if (point === deliveryCommitPoints.again) return this.#redeliver()
    return this.#createBatch()
  }

  /** Uploads in the dialects in turn. */
  async #upload(): Promise<string> {
    const text = `{"upload":${this.#uploads}}\n`
    const path = this.#uploads++ % 2 === 0 ? '/openai/v1/files' : '/v1/files'
    const form = new FormData()
    form.set('purpose', path === '/v1/files' ? 'user_data' : 'batch')
    form.set('file', new File([text], `file-${this.#uploads}.jsonl`, { type: 'application/jsonl' }))
    const { id } = (await this.#ask('POST', path, { body: form })) as { id: string }
    this.files.set(id, text)
    return id
  }

  async #delete(): Promise<void> {
    // A file whose deletion was not answered is deleted again: it may be gone already.
    this.#doomed ??= [...this.files].find(([, text]) => text !== null)?.[0] ?? (await this.#upload())
    await this.#ask('DELETE', `/openai/v1/files/${this.#doomed}`, { accepted: [404] })
    this.files.set(this.#doomed, null)
    this.#doomed = null
  }

  async #rotate(): Promise<void> {
    const made = await this.#ask('POST', '/v1/organization/signing-secret', { key: managementKey })
    this.receiver.secret = (made as { data: { signing_secret: string } }).data.signing_secret
  }

  async #createBatch(): Promise<void> {
    const body = JSON.stringify({
      endpoint: '/v1/chat/completions',
      model,
      callback_url: `http://${this.receiver.host}/done`,
      requests: [{ custom_id: 'a', body: { messages: [{ role: 'user', content: 'tell' }], max_tokens: 4 } }],
    })
    const { id } = (await this.#ask('POST', '/v1/batches', { body })) as { id: string }
    this.batches.push(id)
  }

  async #redeliver(): Promise<void> {
    // The receiver refuses every first post: up to here, no event may have been taken yet.
    const endMs = performance.now() + toldMsMax
    while (this.receiver.events.length === 0 && performance.now() < endMs) await Bun.sleep(50)
    const [told] = this.receiver.events
    if (told === undefined) throw new Error('no event was taken')
    await this.#ask('POST', `/v1/batches/${told.batchId}/redeliver`, {})
  }

  async #ask(
    method: string,
    path: string,
    {
      body,
      key = inferenceKey,
      accepted = [],
    }: { body?: FormData | string; key?: string; accepted?: number[] },
  ): Promise<unknown> {
    const headers: Record<string, string> = { authorization: `Bearer ${key}` }
    if (typeof body === 'string') headers['content-type'] = 'application/json'
    const response = await fetch(`${this.url.replace(/\/v1$/, '')}${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body }),
      signal: AbortSignal.timeout(30_000),
    })
    const text = await response.text()
    if (!response.ok && !accepted.includes(response.status))
      this.problems.push(`${method} ${path}: ${response.status} ${text.slice(0, 200)}`)
    return JSON.parse(text) as unknown
  }

  /** Makes the waits of deliveries and the leases of dead processes pass. */
  hurry(): Promise<unknown> {
    const sql = `update deliveries set due_at_ms = 0, lease_until_ms = 0 where state = 'waiting'`
    return this.world.database.commit({ name: 'test.hurry', statements: [{ sql, params: [] }] })
  }

  /** Everything that was promised, once a gateway is left alone. */
  async audit(): Promise<string[]> {
    const untold = async () => {
      const rows = await this.world.database.query<{
        batch_id: string
        status: string
        state: string | null
      }>(
        `select batches.batch_id, status, state from batches left join deliveries on deliveries.batch_id = batches.batch_id limit 1000`,
      )
      return rows.filter(({ status, state }) => !terminal.has(status) || state !== 'delivered')
    }
    const endMs = performance.now() + toldMsMax
    while ((await untold()).length > 0 && performance.now() < endMs) {
      await this.hurry()
      await Bun.sleep(300)
    }
    for (const row of await untold())
      this.problems.push(`${row.batch_id} ${row.status}: its event is ${row.state}`)
    for (const id of this.batches)
      if (!this.receiver.events.some(({ batchId }) => batchId === id))
        this.problems.push(`${id}: no event came`)
    for (const { batchId, type, isSigned, idempotencyKey } of this.receiver.events) {
      if (!isSigned || type !== 'batch.completed')
        this.problems.push(`${batchId}: ${type}, signed: ${isSigned}`)
      if (idempotencyKey !== `${batchId}-completed`)
        this.problems.push(`${batchId}: its key is ${idempotencyKey}`)
    }
    for (const [id, text] of this.files) await this.#auditFile(id, text)
    return [...this.problems, ...(await this.world.findings())]
  }

  async #auditFile(id: string, text: string | null): Promise<void> {
    const response = await fetch(`${this.url.replace(/\/v1$/, '')}/openai/v1/files/${id}/content`, {
      headers: { authorization: `Bearer ${inferenceKey}` },
    })
    const found = await response.text()
    if (text === null ? response.status !== 404 : found !== text)
      this.problems.push(`file ${id}: ${response.status} ${found.slice(0, 60)}, not ${text ?? 'a 404'}`)
  }
}

async function killAround(site: CrashSite, callers: Callers, report: string): Promise<boolean> {
  const { world } = callers
  const gateway = await world.start(
    { armed: [{ ...site, skip: 0 }], report },
    { HEADRACE_MASTER_KEY: masterKey },
  )
  callers.url = gateway.baseUrl
  const hurry = setInterval(() => void callers.hurry().catch(() => undefined), 500)
  // The process may die while it is asked.
  if (gateway.isAlive) await callers.act(site.point).catch(() => undefined)
  await Promise.race([gateway.ended, Bun.sleep(killedMsMax)])
  clearInterval(hurry)
  gateway.signal('SIGKILL')
  await gateway.ended
  return existsSync(report) && readFileSync(report, 'utf8').includes(`${keyOfPoint(site)}\n`)
}

async function runWorld(database: DialectName): Promise<string[]> {
  const startMs = performance.now()
  const receiver = new EventReceiver()
  const settings = { callback_hosts: [receiver.host] }
  const world = await createWorld({ database, credits: '1000', settings })
  try {
    const callers = new Callers(world, receiver)
    let kills = 0
    for (const site of sites) {
      const isHit = await killAround(site, callers, join(world.folder, `report-${kills}-${keyOfPoint(site)}`))
      if (isHit) kills += 1
      else callers.problems.push(`${keyOfPoint(site)} was not hit`)
      // The next process does again what was not answered.
      const heir = await world.start({}, { HEADRACE_MASTER_KEY: masterKey })
      callers.url = heir.baseUrl
      await callers.act(site.point)
      heir.signal('SIGKILL')
      await heir.ended
    }
    const survivor = await world.start({}, { HEADRACE_MASTER_KEY: masterKey })
    callers.url = survivor.baseUrl
    const problems = await callers.audit()
    survivor.signal('SIGTERM')
    await survivor.ended
    const seconds = Math.round((performance.now() - startMs) / 1000)
    console.log(
      `${database}: ${kills} kills at ${sites.length} places, ${callers.batches.length} batches told ${receiver.events.length} times, ${callers.files.size} files in ${seconds} s; ${problems.length} problems`,
    )
    return problems.map((problem) => `${database}: ${problem}`)
  } finally {
    await world.remove()
    await receiver.stop()
  }
}

const [only] = process.argv.slice(2)
const missing = whyNoPostgres()
const problems: string[] = missing === null || only === 'sqlite' ? [] : [missing]
for (const database of ['sqlite', 'postgres'] as const)
  if ((!only || only === database) && (database === 'sqlite' || missing === null))
    problems.push(...(await runWorld(database)))
for (const problem of problems.slice(0, 20)) console.log(`WRONG: ${problem}`)
process.exit(problems.length === 0 ? 0 : 1)
