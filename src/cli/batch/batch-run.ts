import { open, rename, rm } from 'node:fs/promises'
import { cliPauseMs, cliTriesMax } from '../../core/limits/cli.ts'
import { randomText } from '../../core/ids.ts'
import { dollarsOf, duration, size } from '../amounts.ts'
import { type BatchLine, isEnded, pause, toBatchLine, watchBatch } from './batch-client.ts'
import { type BatchFile, lineOfItem, scanBatchFile, uploadOf } from './batch-file.ts'
import { type ClientRequest, type GatewayClient, readJson, refusal } from '../client.ts'
import type { CommandContext } from '../context.ts'
import { CommandFailure } from '../failure.ts'
import { textOrEmpty } from '../../json/values.ts'
import { listenForInterruption } from '../interruption.ts'
import type { Paint } from '../paint.ts'
import { describeLanes } from './lane-lines.ts'
import { createProgress, type Progress } from './progress.ts'
import { describeWaiting, summariseWaiting, type WaitingLine } from './waiting-lines.ts'

/** How long a command waits for a large upload to be accepted. */
const cliUploadMs = 3_600_000

/** The parts that `batch run` and `batch watch` use. */
export interface BatchSession {
  context: CommandContext
  client: GatewayClient
  key: string
  paint: Paint
  /** Whether a batch may be running under the key when the command ends. */
  isUnderWay: boolean
}

/** Options of `batch run`. */
export interface BatchRunOptions {
  path: string
  endpoint?: string | undefined
  model?: string | undefined
  isYes: boolean
}

/** `headrace batch run`: estimate, question, upload, progress, results. Leaving it does not stop the batch. */
export async function runBatchFile(options: BatchRunOptions, session: BatchSession): Promise<number> {
  const { context } = session
  const file = await scanBatchFile(options.path, options)
  const count = file.items === 1 ? '1 item' : `${file.items} items`
  context.write(`${count}, ${size(file.bytes)}, for ${file.model} at ${file.endpoint}\n`)
  await showEstimate(file, session)
  if (!options.isYes && !(await isAgreed(context))) {
    context.write('Nothing was sent. --yes answers the question beforehand.\n')
    return 1
  }
  const batch = await acceptOrLeave(file, session)
  if (batch === null) {
    context.write('Left before the answer. Was it accepted all the same? npx headrace batch watch\n')
    return leftExitCode
  }
  context.write(`${batch.id} accepted\n`)
  return followBatch(batch.id, { resultsPath: `${options.path}.results.jsonl` }, session)
}

const leftExitCode = 130

/** The accepted batch, or null when the user interrupts the upload. */
async function acceptOrLeave(file: BatchFile, session: BatchSession): Promise<BatchLine | null> {
  const interruption = listenForInterruption()
  session.isUnderWay = true
  try {
    return await accept(file, session, interruption.signal)
  } catch (error) {
    if (interruption.signal.aborted) return null
    if (error instanceof CommandFailure && !error.isPassing) session.isUnderWay = false
    throw error
  } finally {
    interruption.stop()
  }
}

async function isAgreed(context: CommandContext): Promise<boolean> {
  return /^y(es)?$/i.test((await context.ask('Run it? [y/N] ')).trim())
}

async function showEstimate(file: BatchFile, session: BatchSession): Promise<void> {
  const answer = await upload(file, '/batches?dry_run=true', session)
  const worst = answer['worst_case']
  const most = typeof worst === 'number' ? `, ${dollarsOf(worst)} at most` : ''
  session.context.write(`estimated cost ${dollarsOf(answer['estimate'])}${most}\n`)
  for (const line of describeLanes(answer)) session.context.write(`${line}\n`)
}

/** Uploads until the batch is accepted; the same `Idempotency-Key` each time, so that a lost answer makes no second batch. */
async function accept(file: BatchFile, session: BatchSession, signal: AbortSignal): Promise<BatchLine> {
  const headers = { 'idempotency-key': `cli-${file.sha256.slice(0, 16)}-${randomText(16)}` }
  for (let attempt = 1; ; attempt++) {
    try {
      return toBatchLine(await upload(file, '/batches', session, { headers, signal }))
    } catch (error) {
      if (!(error instanceof CommandFailure && error.isPassing) || attempt >= cliTriesMax) throw error
      session.context.writeError(`${error.message} Trying again.\n`)
      await pause(cliPauseMs * 2 ** attempt, signal)
      signal.throwIfAborted()
    }
  }
}

async function upload(
  file: BatchFile,
  path: string,
  session: BatchSession,
  request: Pick<ClientRequest, 'headers' | 'signal'> = {},
) {
  const progress = progressOf(session, path.includes('dry_run') ? 'estimating' : 'uploading ')
  try {
    const response = await session.client.send(path, {
      ...request,
      key: session.key,
      timeoutMs: cliUploadMs,
      rawBody: uploadOf(file, (sent) => progress.update(Math.min(sent, file.bytes), file.bytes)),
    })
    const answer = await readJson(response)
    if (!response.ok) throw await withLine(refusal(response, answer), file)
    return answer
  } finally {
    progress.end()
  }
}

/** The gateway names an item by its number, but the user who corrects the file needs the line. */
async function withLine(failure: CommandFailure, { path }: BatchFile): Promise<CommandFailure> {
  const index = /^\W*requests\[(\d+)\]/.exec(failure.message)?.[1]
  if (index === undefined) return failure
  const { exitCode, isPassing } = failure
  const where = `${path}:${await lineOfItem(path, Number(index))}`
  return new CommandFailure(`${where}: ${failure.message}`, { exitCode, isPassing })
}

function progressOf({ context, paint }: BatchSession, label: string): Progress {
  return createProgress({
    ...context,
    paint,
    label,
    nowMs: () => performance.now(),
    afterMs: 1_000,
    show: size,
  })
}

/** Shows a batch's progress to its end and then its results; stops early when the user interrupts. */
export async function followBatch(
  id: string,
  options: { resultsPath: string | null },
  session: BatchSession,
): Promise<number> {
  const { context, client, key } = session
  const startedMs = performance.now()
  const interruption = listenForInterruption()
  const progress = createProgress({
    ...context,
    paint: session.paint,
    label: id.slice(0, 14),
    nowMs: () => performance.now(),
  })
  let batch: BatchLine | null
  let looks = 0
  let told = ''
  const tell = (waiting: readonly WaitingLine[]): void => {
    // Counts and times change at every poll, so a reason is printed once, and again when it returns.
    const reasons = waiting
      .map(({ type, message }) => `${type} ${message}`)
      .toSorted()
      .join('\n')
    const isTold = reasons === told
    told = reasons
    if (isTold || waiting.length === 0) return
    progress.end()
    for (const line of waiting) context.write(`${describeWaiting(line)}\n`)
  }
  try {
    batch = await watchBatch({
      client,
      key,
      id,
      signal: interruption.signal,
      nowMs: () => performance.now(),
      onChange({ completed, failed, total, status, waiting }) {
        looks += 1
        const note = failed > 0 ? `${status}, ${failed} failed` : status
        progress.update(completed + failed, total, note + summariseWaiting(waiting))
        tell(waiting)
      },
    })
  } finally {
    interruption.stop()
    progress.end()
  }
  if (batch === null || !isEnded(batch)) {
    context.write(`${id} goes on without this command. Watch it: npx headrace batch watch ${id}\n`)
    return leftExitCode
  }
  session.isUnderWay = false
  // A batch that had ended before this command began: its duration is not known here.
  const took = looks > 1 ? ` in ${duration(performance.now() - startedMs)}` : ''
  context.write(`${summaryOf(batch)}${took}\n`)
  for (const line of batch.moves) context.write(`${line}\n`)
  if (options.resultsPath !== null && batch.status !== 'failed')
    await saveResults(batch, options.resultsPath, session)
  return batch.status === 'completed' ? 0 : 1
}

/** `completed: 40 answered, 0 failed, cost $0.0012`. */
function summaryOf(batch: BatchLine): string {
  const reason = textOrEmpty(batch.error) === '' ? '' : ` (${batch.error})`
  return `${batch.status}: ${batch.completed} answered, ${batch.failed} failed, cost ${dollarsOf(batch.cost)}${reason}`
}

/** Streams the results to a temporary file, which gets its final name once it is complete. */
async function saveResults(
  batch: BatchLine,
  path: string,
  { client, key, context }: BatchSession,
): Promise<void> {
  const response = await client.send(`/batches/${encodeURIComponent(batch.id)}/results`, { key })
  if (!response.ok || !response.body) throw refusal(response, await readJson(response))
  const partial = `${path}.partial`
  const bytes = await saveBody(response.body, { partial, path }).catch(async (error: unknown) => {
    // On a full disk an incomplete file would use up the room for the next try.
    await rm(partial, { force: true })
    if (!(error instanceof CommandFailure)) throw error
    // The batch is paid for. When its file cannot be written, the results can be fetched again.
    const again = `npx headrace batch watch ${batch.id} --out ${path}`
    throw new CommandFailure(`${error.message} The results are not lost: ${again}`)
  })
  context.write(`results: ${path} (${size(bytes)})\n`)
}

/** Resolves with the number of bytes. Throws CommandFailure when the body breaks off and when the file cannot be written. */
async function saveBody(
  body: ReadableStream<Uint8Array>,
  { partial, path }: { partial: string; path: string },
): Promise<number> {
  const file = await writing(partial, () => open(partial, 'w'))
  let bytes = 0
  try {
    for await (const chunk of body) {
      bytes += chunk.byteLength
      await writing(partial, () => file.writeFile(chunk))
    }
  } finally {
    await writing(partial, () => file.close())
  }
  await writing(path, () => rename(partial, path))
  return bytes
}

async function writing<T>(path: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
    throw new CommandFailure(`${path} cannot be written${reason}.`)
  }
}
