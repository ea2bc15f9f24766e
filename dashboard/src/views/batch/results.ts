import { address, send } from '../../api/client.ts'
import type { Schemas } from '../../api/openapi.gen.ts'
import { LineCutter } from '../../values/lines.ts'

export type ItemResult = Schemas['BatchResult']

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

/** What is known of a batch's results. Each reading goes on where the one before it ended, also where it broke off. */
export class ResultsReader {
  readonly #id: string
  readonly #groups = new ErrorGroups()
  readonly #first: ItemResult[] = []
  #lines = 0
  #cursor: string | null = null

  constructor(id: string) {
    this.#id = id
  }

  async readOn(signal: AbortSignal): Promise<ResultsSummary> {
    for await (const line of resultLines(this.#id, this.#cursor, signal)) {
      // Another reading goes on from here.
      if (signal.aborted) break
      this.#take(line)
      // Thousands of lines come at once; the page is drawn between them.
      if (this.#lines % pauseEveryLines === 0) await new Promise((resolve) => setTimeout(resolve))
    }
    return { first: [...this.#first], groups: this.#groups.list(), lines: this.#lines }
  }

  #take(line: string): void {
    this.#lines += 1
    this.#cursor = cursorOf(line) ?? this.#cursor
    const isShown = this.#first.length < shownMax
    // Most lines are answers that are not shown: they are not parsed.
    if (!isShown && !mayHaveFailed(line)) return
    const result = JSON.parse(line) as ItemResult
    if (isShown) this.#first.push(result)
    this.#groups.add(result)
  }
}

/** The cursor is the last member of a line. */
function cursorOf(line: string): string | null {
  return /"cursor":"([\d-]+)"\}\s*$/.exec(line.slice(-60))?.[1] ?? null
}

/** Whether a line may be of an item that failed; an answer may have such a member too. */
function mayHaveFailed(line: string): boolean {
  return line.includes('"response":null')
}

async function* resultLines(
  id: string,
  cursor: string | null,
  signal: AbortSignal | null,
): AsyncGenerator<string> {
  const response = await send('GET', resultsPath(id, cursor), signal === null ? {} : { signal })
  if (response.body === null) return
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  const cutter = new LineCutter()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    for (const line of cutter.cut(value)) if (line !== '') yield line
  }
  const rest = cutter.end()
  if (rest.trim() !== '') yield rest
}

function resultsPath(id: string, cursor: string | null): string {
  return address('/batches/{id}/results', { id }, { cursor })
}

/** The results as the gateway has them; with `isFailedOnly`, only the lines of items that failed. */
export async function resultsFile(id: string, isFailedOnly: boolean): Promise<Blob> {
  if (!isFailedOnly) return (await send('GET', resultsPath(id, null))).blob()
  const failed: string[] = []
  for await (const line of resultLines(id, null, null))
    if (mayHaveFailed(line) && (JSON.parse(line) as ItemResult).error !== null) failed.push(`${line}\n`)
  return new Blob(failed, { type: 'application/x-ndjson' })
}
