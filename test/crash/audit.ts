import { type EndedBatch, isTerminalStatus, readBatch, sumOf, usagesOf } from './batch-client.ts'
import { grant } from './people.ts'
import type { AcceptedBatch } from './accepted-batch.ts'
import type { Workload } from './workload.ts'
import type { World } from './world.ts'

const endMsMax = 120_000
const toldMsMax = 120_000

/** What is wrong after everything was killed often enough and then left alone; empty when every promise was kept. */
export async function audit(world: World, workload: Workload, baseUrl: string): Promise<string[]> {
  for (const organizationId of workload.poor) await grant(world.database, organizationId, 1_000_000_000n)
  const open = await untilEnded(world)
  if (open.length > 0) return [`batches have not ended: ${open.join(', ')}`]
  const problems: string[] = [...workload.complaints]
  for (const batch of workload.batches.values()) {
    if (!batch.isDeleted) problems.push(...(await auditBatch(world, batch, baseUrl)))
  }
  problems.push(...(await auditKeys(world, workload)))
  problems.push(...(await auditCalls(world, workload)))
  problems.push(...(await auditCaptures(world)))
  problems.push(...(await auditTold(world)))
  problems.push(...(await auditKept(world)))
  return problems
}

async function untilEnded(world: World): Promise<string[]> {
  const endMs = performance.now() + endMsMax
  for (;;) {
    const rows = await world.database.query<{ batch_id: string; status: string }>(
      'select batch_id, status from batches limit 10000',
    )
    const open = rows.filter(({ status }) => !isTerminalStatus(status))
    if (open.length === 0 || performance.now() > endMs)
      return open.map(({ batch_id, status }) => `${batch_id} ${status}`)
    await Bun.sleep(200)
  }
}

/** Every item has one result, every completed one has one usage and one capture, and the sums agree. */
async function auditBatch(world: World, accepted: AcceptedBatch, baseUrl: string): Promise<string[]> {
  const batch = await readBatch(baseUrl, accepted.id, 0, accepted.key)
  const ledger = await usagesOf(world.database, batch.id)
  if (batch.status === 'failed') return ledger.count === 0 ? [] : [`${batch.id}: failed and was charged`]
  const problems: string[] = []
  const same = (what: string, left: unknown, right: unknown) =>
    void (left === right || problems.push(`${batch.id} ${batch.status}: ${what}: ${left}, not ${right}`))
  const { completed, failed, total } = batch.request_counts
  same('custom ids', batch.results.map((result) => result.custom_id).join(), accepted.customIds.join())
  same('counts', completed + failed, total)
  same('results', batch.results.filter(({ response }) => response !== null).length, completed)
  same('usages', ledger.count, completed)
  same('captures', ledger.captures, completed)
  same('captured', ledger.captured, ledger.cost)
  same('cost', Math.round((batch.usage?.cost ?? 0) * 1e9), Number(ledger.cost))
  same('cost of items', sumOf(batch.results).cost, Number(ledger.cost))
  problems.push(...promised(batch))
  return problems
}

/** Nothing here fails by the provider's fault, so only batches that were cut short may have failed items. */
function promised(batch: EndedBatch): string[] {
  if (batch.status !== 'completed' || batch.request_counts.failed === 0) return []
  const failure = batch.results.find(({ error }) => error !== null)
  return [`${batch.id}: completed with a failed item: ${JSON.stringify(failure)}`]
}

/** However often an upload was repeated, its key made one batch at most. */
async function auditKeys(world: World, workload: Workload): Promise<string[]> {
  const rows = await world.database.query<{ idempotency_id: string; batches: number }>(
    `select idempotency_id, count(*) as batches from batches where idempotency_id is not null
     group by idempotency_id having count(*) > 1`,
  )
  return rows.length === 0
    ? []
    : [`${rows.length} of ${workload.idempotencyKeys.length} keys made more than one batch`]
}

/** Whoever has a whole answer has exactly one usage, and nobody was charged for a call that was never made. */
async function auditCalls(world: World, workload: Workload): Promise<string[]> {
  const rows = await world.database.query<{ generation_id: string }>(
    `select generation_id from usages where batch_id is null and generation_id not like 'gen-account%' limit 100000`,
  )
  const known = new Set(rows.map((row) => row.generation_id))
  const missing = workload.answered.filter((id) => !known.has(id))
  const problems =
    missing.length === 0 ? [] : [`${missing.length} whole answers without a usage: ${missing[0]}`]
  if (rows.length > workload.callsStarted)
    problems.push(`${rows.length} usages of ${workload.callsStarted} live calls`)
  return problems
}

/** Of all batches, also deleted ones: no usage beyond what was completed. */
async function auditCaptures(world: World): Promise<string[]> {
  const rows = await world.database.query<{ batch_id: string; completed_items: number; usages: number }>(
    `select batch_id, completed_items, (select count(*) from usages where usages.batch_id = batches.batch_id) as usages
     from batches limit 10000`,
  )
  return rows
    .filter((row) => row.usages !== row.completed_items)
    .map((row) => `${row.batch_id}: ${row.usages} usages of ${row.completed_items} completed items`)
}

/** Every answer that may be given again for another minute is there. */
async function auditKept({ database, blobs }: World): Promise<string[]> {
  const rows = await database.query<{ blob: string }>(
    'select blob from cached_answers where expires_at_ms > now_ms() + 60000 limit 10000',
  )
  const problems: string[] = []
  for (const { blob } of rows) {
    const isThere = await blobs.get(blob).then(
      () => true,
      () => false,
    )
    if (!isThere) problems.push(`${blob} of the response cache is gone`)
  }
  return problems
}

/** Every capture of a gateway was told to the receiver, and nothing that is not a capture. */
async function auditTold(world: World): Promise<string[]> {
  const endMs = performance.now() + toldMsMax
  for (;;) {
    const [waiting] = await world.database.query('select 1 as found from broadcasts limit 1')
    if (waiting === undefined || performance.now() > endMs) break
    await Bun.sleep(200)
  }
  const rows = await world.database.query<{ generation_id: string }>(
    `select generation_id from usages where generation_id not like 'gen-account%' limit 100000`,
  )
  const captured = new Set(rows.map((row) => row.generation_id))
  const untold = [...captured].filter((id) => !world.told.has(id))
  const invented = [...world.told].filter((id) => !captured.has(id))
  return [
    ...(untold.length === 0
      ? []
      : [`${untold.length} of ${captured.size} captures were not told: ${untold[0]}`]),
    ...(invented.length === 0 ? [] : [`${invented.length} were told and have no capture: ${invented[0]}`]),
  ]
}
