import { ApiError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { storedBatchesMax, storedFilesMax } from '../limits.ts'

/** An uploaded or written file. */
export interface StoredFile {
  id: string
  filename: string
  purpose: string
  content: Buffer
  createdSeconds: number
  expiresSeconds: number | null
  /** What is there once the file was read. */
  late?: string
}

/** The bytes of a file, as they are read now. */
export function readContent(file: StoredFile): Buffer {
  const { content, late = '' } = file
  if (late !== '') file.content = Buffer.concat([content, Buffer.from(late)])
  file.late = ''
  return content
}

/** What ran of a batch. */
export interface BatchOutput {
  /** Lines with an answer, and lines with an error; null where there are none. */
  output: string | null
  errors: string | null
  /** Lines of the output that are there once it was read, and how often it was. */
  late: string
  readings: number
  completed: number
  failed: number
  /** Of the failed lines, those that the provider did not run. */
  notRun: number
  usage: BatchTokens
}

/** The lines with an answer, as they are read now; those that come late are there after so many readings. */
export function readOutput(ran: BatchOutput, lateAfter = 1): string {
  ran.readings += 1
  return (ran.output ?? '') + (ran.readings > lateAfter ? ran.late : '')
}

/** The sums that a batch object shows of its lines. */
export interface BatchTokens {
  input: number
  cached: number
  output: number
  reasoning: number
}

/** One line of `errors.data` of a batch that failed. */
export interface BatchFault {
  code: string
  message: string
  line: number | null
}

/** How a batch ends when nobody cancels it. */
export type BatchEnd = 'completed' | 'failed' | 'expired' | 'cancelled'

/** A batch; every look brings it on. */
export interface StoredBatch {
  id: string
  endpoint: string
  inputFileId: string
  metadata: JsonObject | null
  createdSeconds: number
  model: string | null
  total: number
  /** What was wrong with the whole; then it fails. */
  faults: readonly BatchFault[]
  end: BatchEnd
  isEndless: boolean
  /** Nothing can be read of it once it has expired. */
  losesExpired: boolean
  /** Its results are told, and are no files. */
  writesNoFiles: boolean
  /** Looks before it ends. */
  looksMax: number
  looks: number
  /** The looks at which it was cancelled; null when it was not. */
  cancelledAtLook: number | null
  status: string
  /** When it reached each status, in seconds. */
  times: Partial<Record<string, number>>
  /** Runs the lines, once; `share` is the part of them that is run. */
  run(share: number, reason: 'batch_expired' | 'batch_cancelled' | null): Promise<BatchOutput>
  ran: BatchOutput | null
  outputFileId: string | null
  errorFileId: string | null
}

/** The files and batches of one mount. */
export interface KeptBatches {
  readonly files: Map<string, StoredFile>
  readonly batches: Map<string, StoredBatch>
  keepFile(file: StoredFile): void
  keepBatch(batch: StoredBatch): void
  noteLine(): void
  /** For tests: what was made, what is left and how many lines were run. */
  counts(): Record<string, number>
}

/** The statuses that a batch does not leave. */
export const endedStatuses: ReadonlySet<string> = new Set(['completed', 'failed', 'expired', 'cancelled'])

export function createKeptBatches(): KeptBatches {
  const files = new Map<string, StoredFile>()
  const batches = new Map<string, StoredBatch>()
  let filesMade = 0
  let linesRun = 0
  return {
    files,
    batches,
    keepFile(file) {
      if (files.size >= storedFilesMax) throw full('files')
      filesMade += 1
      files.set(file.id, file)
    },
    keepBatch(batch) {
      if (batches.size >= storedBatchesMax) throw full('batches')
      batches.set(batch.id, batch)
    },
    noteLine: () => void (linesRun += 1),
    counts: () => ({
      batches_made: batches.size,
      batches_running: [...batches.values()].filter(({ status }) => !endedStatuses.has(status)).length,
      files_made: filesMade,
      files_left: files.size,
      lines_run: linesRun,
    }),
  }
}

function full(what: string): ApiError {
  const message = `The simulator has too many ${what}; POST /admin/reset forgets them.`
  return new ApiError({ status: 503, message })
}
