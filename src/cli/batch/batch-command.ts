import { dollarsOf, timestamp } from '../amounts.ts'
import { parseArguments } from '../arguments.ts'
import { isEnded, listBatches, loadBatch, toBatchLine } from './batch-client.ts'
import { describeDeliveries } from './delivery-lines.ts'
import { followBatch, runBatchFile, type BatchSession } from './batch-run.ts'
import type { CommandContext } from '../context.ts'
import { CommandFailure, usageFailure } from '../failure.ts'
import { clientOf } from '../in-process-gateway.ts'
import { createPaint } from '../paint.ts'
import { suggestionFor } from '../suggestion.ts'
import { renderTable } from '../table.ts'
import { openTemporaryKeys, requireKnown } from '../temporary-keys.ts'

/** `headrace batch run <file.jsonl>`, `watch [id]`, `retry <id>`, `deliveries <id>` and `redeliver <id>`. */
export async function runBatch(args: readonly string[], context: CommandContext): Promise<number> {
  const [action, ...rest] = args
  if (action === 'run') return run(rest, context)
  if (action === 'watch') return watch(rest, context)
  if (action === 'retry') return retry(rest, context)
  if (action === 'deliveries' || action === 'redeliver') return showDeliveries(action, rest, context)
  throw usageFailure(
    action === undefined
      ? 'Which? run, watch, retry, deliveries or redeliver.'
      : `There is no "batch ${action}".${suggestionFor(action, ['run', 'watch', 'retry', 'deliveries', 'redeliver'])}`,
    'batch',
  )
}

/** Uses the key of the environment, otherwise a temporary one of the local data folder. */
async function withSession(
  context: CommandContext,
  work: (session: BatchSession) => Promise<number>,
): Promise<number> {
  const client = clientOf(context)
  const paint = createPaint(context.isTty, context.env)
  const given = context.env['HEADRACE_API_KEY']
  if (given) return work({ context, client, key: given, paint, isUnderWay: false })
  const keys = await openTemporaryKeys(context, 'headrace batch').catch((error: unknown) => {
    if (!(error instanceof CommandFailure)) throw error
    const elsewhere =
      'For a gateway elsewhere, set HEADRACE_API_KEY: npx headrace keys create makes one there.'
    throw new CommandFailure(`${error.message} ${elsewhere}`)
  })
  let session: BatchSession | null = null
  try {
    const key = await keys.create('inference')
    await requireKnown(client, key)
    session = { context, client, key, paint, isUnderWay: false }
    return await work(session)
  } finally {
    // A batch that continues after this command needs its key until it has ended.
    await (session?.isUnderWay === true ? keys.leave() : keys.giveBack())
  }
}

async function run(args: readonly string[], context: CommandContext): Promise<number> {
  const text = { type: 'string' } as const
  const parsed = parseArguments('batch', args, { endpoint: text, model: text, yes: { type: 'boolean' } }, 1)
  const [path] = parsed.words
  if (path === undefined)
    throw usageFailure('Which file? One item a line: {"custom_id":"…","body":{…}}.', 'batch')
  const { endpoint, model } = { endpoint: parsed.text('endpoint'), model: parsed.text('model') }
  const options = { path, endpoint, model, isYes: parsed.isOn('yes') }
  return withSession(context, (session) => runBatchFile(options, session))
}

async function watch(args: readonly string[], context: CommandContext): Promise<number> {
  const parsed = parseArguments('batch', args, { out: { type: 'string' } }, 1)
  const [id] = parsed.words
  if (id === undefined) return withSession(context, watchLatest)
  return withSession(context, async (session) => {
    // Requested once before watching, so that a wrong id fails at once.
    await loadBatch(session.client, session.key, id)
    return followBatch(id, { resultsPath: parsed.text('out') ?? null }, session)
  })
}

/** A batch of the items of another one that failed, and its progress. */
async function retry(args: readonly string[], context: CommandContext): Promise<number> {
  const parsed = parseArguments('batch', args, { out: { type: 'string' } }, 1)
  const [id] = parsed.words
  if (id === undefined) throw usageFailure('Which batch is it whose failed items are to run again?', 'batch')
  return withSession(context, async (session) => {
    const { client, key } = session
    const answer = await client.json(`/batches/${encodeURIComponent(id)}/retry`, { key, method: 'POST' })
    const { id: retryId, total } = toBatchLine(answer)
    session.isUnderWay = true
    context.write(
      `${retryId} accepted, with what failed of ${id}: ${total === 1 ? '1 item' : `${total} items`}\n`,
    )
    return followBatch(retryId, { resultsPath: parsed.text('out') ?? null }, session)
  })
}

/** How the end of a batch was told to its `callback_url`; `redeliver` has it told again first. */
async function showDeliveries(
  action: 'deliveries' | 'redeliver',
  args: readonly string[],
  context: CommandContext,
): Promise<number> {
  const [id] = parseArguments('batch', args, {}, 1).words
  if (id === undefined) throw usageFailure('Of which batch?', 'batch')
  return withSession(context, async ({ client, key }) => {
    const method = action === 'redeliver' ? 'POST' : 'GET'
    const answer = await client.json(`/batches/${encodeURIComponent(id)}/${action}`, { key, method })
    const lines = describeDeliveries(answer)
    for (const line of lines) context.write(`${line}\n`)
    if (lines.length === 0) context.write('Nothing was told: it has not ended, or has no callback_url.\n')
    return 0
  })
}

async function watchLatest(session: BatchSession): Promise<number> {
  const { context } = session
  const batches = await listBatches(session.client, session.key)
  if (batches.length === 0) {
    context.write('There are no batches yet. Start one: npx headrace batch run <file.jsonl>\n')
    return 0
  }
  const rows = batches.map((batch) => [
    batch.id,
    batch.waiting.length === 0 ? batch.status : `${batch.status}, waiting`,
    `${batch.completed + batch.failed}/${batch.total}`,
    String(batch.failed),
    dollarsOf(batch.cost),
    timestamp(batch.createdAtSeconds * 1_000),
    batch.model,
  ])
  context.write(
    renderTable(['id', 'status', 'done', 'failed', 'cost', 'created (UTC)', 'model'], rows, session.paint),
  )
  const running = batches.find((batch) => !isEnded(batch))
  return running ? followBatch(running.id, { resultsPath: null }, session) : 0
}
