import { send } from '../../api/client.ts'

export interface ItemResult {
  id: string
  custom_id: string
  response: { status_code: number; request_id: string | null; body: Record<string, unknown> } | null
  error: { type: string; message: string; param: string | null } | null
  cursor?: string
}

/** Items that failed in the same way. */
export interface ErrorGroup {
  type: string
  message: string
  count: number
  /** The first of them. */
  customIds: readonly string[]
}

const customIdsKept = 5
const groupsMax = 50
/** A message often names a value of its item; what differs in figures alone is one group. */
const figures = /\d+/g

/** Groups errors as their lines arrive. */
export class ErrorGroups {
  readonly #groups = new Map<string, ErrorGroup>()

  add({ custom_id: customId, error }: ItemResult): void {
    if (error === null) return
    const key = `${error.type} ${error.message.replaceAll(figures, '#')}`
    const before = this.#groups.get(key)
    if (before === undefined && this.#groups.size >= groupsMax) return
    const customIds = before?.customIds ?? []
    this.#groups.set(key, {
      type: error.type,
      message: before?.message ?? error.message,
      count: (before?.count ?? 0) + 1,
      customIds: customIds.length < customIdsKept ? [...customIds, customId] : customIds,
    })
  }

  list(): ErrorGroup[] {
    return [...this.#groups.values()].toSorted((left, right) => right.count - left.count)
  }
}

export interface ResultsSummary {
  first: readonly ItemResult[]
  groups: readonly ErrorGroup[]
  lines: number
}

const shownMax = 100
const pauseEveryLines = 2000

/** Reads all results of a batch and keeps the first of them and what went wrong with the others. */
export async function summarizeResults(id: string, signal: AbortSignal): Promise<ResultsSummary> {
  const groups = new ErrorGroups()
  const first: ItemResult[] = []
  let lines = 0
  for await (const line of resultLines(id, signal)) {
    lines += 1
    // Most lines are answers that are not shown: they are not parsed.
    if (first.length < shownMax || line.includes('"response":null')) {
      const result = JSON.parse(line) as ItemResult
      if (first.length < shownMax) first.push(result)
      groups.add(result)
    }
    if (lines % pauseEveryLines === 0) await new Promise((resolve) => setTimeout(resolve))
  }
  return { first, groups: groups.list(), lines }
}

async function* resultLines(id: string, signal: AbortSignal): AsyncGenerator<string> {
  const response = await send('GET', `/batches/${encodeURIComponent(id)}/results`, { signal })
  if (response.body === null) return
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    const lines = (rest + value).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line !== '') yield line
  }
  if (rest.trim() !== '') yield rest
}

/** The results as the gateway has them; with `failed`, only the lines of items that failed. */
export async function resultsFile(id: string, isFailedOnly: boolean): Promise<Blob> {
  if (!isFailedOnly) return (await send('GET', `/batches/${encodeURIComponent(id)}/results`)).blob()
  const failed: string[] = []
  const { signal } = new AbortController()
  for await (const line of resultLines(id, signal))
    if (line.includes('"response":null')) failed.push(`${line}\n`)
  return new Blob(failed, { type: 'application/x-ndjson' })
}
