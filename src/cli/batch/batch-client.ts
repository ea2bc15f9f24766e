import { cliAnswerBytesMax, cliListMax, cliPauseMs, cliTriesMax } from '../../core/limits/cli.ts'
import { type GatewayClient, readJson, refusal } from '../client.ts'
import { CommandFailure } from '../failure.ts'
import { readEvents } from './read-events.ts'
import { listOrEmpty, numberOrZero, recordOrEmpty, textOrEmpty } from '../../json/values.ts'
import { describeMoves } from './lane-lines.ts'
import { readWaiting, type WaitingLine } from './waiting-lines.ts'
import { terminalStatuses } from '../../canonical/batch.ts'

/** How often a running batch is polled. */
const batchPollEveryMs = 1_000

/** The longest watch over one batch: its window of a day, and an hour to finish. */
const batchWatchMs = 25 * 3_600_000

/** A batch as commands show it. */
export interface BatchLine {
  id: string
  status: string
  endpoint: string
  model: string
  createdAtSeconds: number
  total: number
  completed: number
  failed: number
  /** Credits; null until the batch has ended. */
  cost: number | null
  error: string
  /** Why items of a running batch wait; empty when none wait. */
  waiting: readonly WaitingLine[]
  /** Which items ended in another lane than the batch's, and why, as lines; empty for most. */
  moves: readonly string[]
}

/** Whether the batch has ended and will not change any more. */
export function isEnded(batch: BatchLine): boolean {
  return terminalStatuses.has(batch.status)
}

/** A batch object from the API, without its results. */
export function toBatchLine(value: unknown): BatchLine {
  const batch = recordOrEmpty(value)
  const counts = recordOrEmpty(batch['request_counts'])
  const usage = recordOrEmpty(batch['usage'])
  return {
    id: textOrEmpty(batch['id']),
    status: textOrEmpty(batch['status']),
    endpoint: textOrEmpty(batch['endpoint']),
    model: textOrEmpty(batch['model']),
    createdAtSeconds: numberOrZero(batch['created_at']),
    total: numberOrZero(counts['total']),
    completed: numberOrZero(counts['completed']),
    failed: numberOrZero(counts['failed']),
    cost: typeof usage['cost'] === 'number' ? usage['cost'] : null,
    error: textOrEmpty(recordOrEmpty(batch['error'])['message']),
    waiting: readWaiting(batch),
    moves: describeMoves(batch),
  }
}

/** The latest batches, newest first, without results. */
export async function listBatches(
  client: GatewayClient,
  key: string,
  limit = cliListMax,
): Promise<BatchLine[]> {
  const answer = await client.json(`/batches?limit=${limit}`, { key })
  return listOrEmpty(answer['data']).map(toBatchLine)
}

/** The contract's limit for one page of the list. */
const listPageMax = 100

/**
 * One batch. It is searched in the list first, because `GET /batches/{id}` sends all results once the batch has ended.
 * Throws CommandFailure when there is no such batch.
 */
export async function loadBatch(client: GatewayClient, key: string, id: string): Promise<BatchLine> {
  const listed = (await listBatches(client, key, listPageMax)).find((batch) => batch.id === id)
  if (listed) return listed
  const response = await client.send(`/batches/${encodeURIComponent(id)}`, { key })
  const answer = await (response.ok ? readWithoutResults(response) : readJson(response))
  // A 402 contains the batch too: it has ended, and its results wait for credits.
  if (response.ok || (response.status === 402 && answer['id'] === id)) return toBatchLine(answer)
  const failure = refusal(response, answer)
  if (!failure.message.startsWith('Batch not found')) throw failure
  throw new CommandFailure(`${failure.message} The latest ones: npx headrace batch watch`)
}

const resultsMark = ',"results":['

/**
 * A batch object without its results, which are its last member and may be gigabytes. No text can contain their
 * beginning, because a quotation mark in a text has a backslash.
 */
async function readWithoutResults(response: Response): Promise<Record<string, unknown>> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    const end = text.indexOf(resultsMark)
    // Leaving the loop cancels the rest.
    if (end >= 0) return readJson(new Response(`${text.slice(0, end)}}`))
    if (text.length > cliAnswerBytesMax) break
  }
  return readJson(new Response(text))
}

/** The settings of a watch. */
export interface Watch {
  client: GatewayClient
  key: string
  id: string
  signal: AbortSignal
  onChange(batch: BatchLine): void
  nowMs(): number
}

/**
 * Watches until the batch has ended or the signal fires, and resolves with its last state (null when there was none). It
 * reads the gateway's events, and polls where a gateway has none, or has no place for another stream. A gateway that is
 * briefly unreachable, during a restart for example, is waited for.
 */
export async function watchBatch(watch: Watch): Promise<BatchLine | null> {
  const endMs = watch.nowMs() + batchWatchMs
  let failures = 0
  let last: BatchLine | null = null
  let isPolled = false
  const onState = (batch: BatchLine) => {
    failures = 0
    last = batch
    watch.onChange(batch)
  }
  while (!watch.signal.aborted && watch.nowMs() < endMs) {
    try {
      isPolled ||= !(await readProgress(watch, onState))
      if (isPolled) onState(await loadBatch(watch.client, watch.key, watch.id))
      if (last !== null && isEnded(last)) return last
    } catch (error) {
      if (watch.signal.aborted) break
      if (!(error instanceof CommandFailure && error.isPassing) || ++failures >= cliTriesMax) throw error
    }
    const pauseMs = failures === 0 ? pollPauseOf(last) : cliPauseMs * 2 ** failures
    await pause(pauseMs, watch.signal)
  }
  return last
}

/** Reads the batch's events until their stream ends; false when the gateway gives none. */
async function readProgress(
  { client, key, id, signal }: Watch,
  onState: (batch: BatchLine) => void,
): Promise<boolean> {
  const response = await client.send(`/batches/${encodeURIComponent(id)}/events`, { key, signal })
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
  if (!response.ok || !isStream || response.body === null) {
    await response.body?.cancel()
    return false
  }
  for await (const batch of readEvents(response.body)) onState(toBatchLine(batch))
  return true
}

/** A short batch is polled more often, so that its end shows at once. */
function pollPauseOf(batch: BatchLine | null): number {
  return batch !== null && batch.total <= 100 ? batchPollEveryMs / 4 : batchPollEveryMs
}

/** Waits until the time is over or the signal fires. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done)
  })
}
