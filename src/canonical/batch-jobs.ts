import type { TextFormat } from './operation.ts'
import type { ResourceKind } from './resource-notes.ts'
import type { StreamedBody, UpstreamReply, UpstreamRequest } from './upstream.ts'

/** The bounds of one job. A batch that is larger becomes several. */
export interface JobLimits {
  items: number
  /** Bytes of all lines together. */
  bytes: number
  /** Texts to embed in all lines together, of which a line may have many; absent where no bound is stated. */
  texts?: number
  /** Milliseconds in which the provider promises to finish. */
  windowMs: number
}

/**
 * What can be done when the answer to the request that creates a job was lost. `searchable`: the provider's listing
 * shows the marker that the request had. `idempotent`: the same request again creates no second job. `neither`: only
 * jobs that nobody knows tell that there may be one.
 */
export type UncertainCreate = 'idempotent' | 'searchable' | 'neither'

/** A live request, as far as it decides which job can have it as a line. */
export interface LiveRequest {
  path: string
  headers: Readonly<Record<string, string>>
  /** The provider's name of the model. */
  model: string
  /** Set where it has more than text: pictures, sound or files, or what its provider is to search or run. */
  hasMedia?: true
}

/** A job as it is about to be created. */
export interface NewJob {
  /** Marks the job and its files; only letters and digits. */
  nonce: string
  /** What every line asks for, as `operationOf` named it. */
  operation: string
  /** The uploaded lines; null where the request itself carries them. */
  fileId: string | null
  /** The lines themselves; null where they were uploaded. */
  lines: StreamedBody | null
}

/** What a provider says of a job. Plain data. */
export interface JobReading {
  id: string
  /** Null for a word that its documentation does not have: nothing is concluded from it. */
  state: 'running' | JobEnding | null
  /** Items that have ended so far, as far as the provider tells. */
  doneCount: number | null
  /** Files with results, which exist in every kind of end. */
  outputs: readonly string[]
  /** Why it failed as a whole; null where it did not. */
  problem: JobProblem | null
}

/** The states that a job does not leave. */
export type JobEnding = 'completed' | 'failed' | 'expired' | 'cancelled'

/** Why a job failed as a whole. */
export interface JobProblem {
  code: string
  /** For the operator: it may have the provider's words. */
  message: string
  /** The account has too much queued: the same job may be taken later. */
  isFull: boolean
}

/** One line of a job's results. */
export interface JobLine {
  /** The id that the line was sent with. */
  id: string
  result:
    | { type: 'answer'; status: number; body: Uint8Array }
    /** It was not run: the job ended before. */
    | { type: 'not run'; reason: 'batch_expired' | 'batch_cancelled' }
    | { type: 'failed'; message: string }
}

/** A job of a provider's listing that has the mark that was asked for. */
export interface FoundJob {
  reading: JobReading
  /** Unix milliseconds by the provider's clock; null where it does not tell. */
  createdAtMs: number | null
}

/** A page of a provider's listing of jobs, the newest first, as far as it matters to one mark. */
export interface JobPage {
  found: readonly FoundJob[]
  /** The creation time of its last entry; null when it has none or does not tell. */
  oldestAtMs: number | null
  /** For the request of the next page; null on the last. */
  older: string | null
}

/** How the lines of a job become a file of its provider. */
export interface JobUpload {
  /** Announces the file, where a place for it has to be asked for; the reply goes to `request`. */
  begin?(name: string, lines: StreamedBody): UpstreamRequest
  /** Throws `provider_failed` when the reply to `begin` names no place. */
  request(name: string, lines: StreamedBody, begun: UpstreamReply | null): UpstreamRequest
  /** The id in the reply to `request`, or in the one to `begin`. Throws `provider_failed`. */
  readId(reply: UpstreamReply, begun?: UpstreamReply | null): string
  /** Has the provider take in what was sent, where that is a request of its own. */
  finish?(fileId: string): UpstreamRequest
}

/** What a job can be found by. */
export interface MarkedJob {
  nonce: string
  itemCount: number
  /** The uploaded lines; null where the creating request carries them. */
  fileId: string | null
}

/** How a listing is searched for a job whose creating request got no answer. */
export interface JobSearch {
  /**
   * What a listing shows of a job: its nonce or its file where the service is `searchable`, else something that other jobs
   * may share.
   */
  markOf(job: MarkedJob): string
  request(older: string | null): UpstreamRequest
  read(reply: UpstreamReply, mark: string): JobPage
}

/** Where a reply in JSON has the results of a job. The reply to a look may have them too, and they are not read there. */
export interface ResultArray {
  /** The members that lead to the array, from the top. */
  at: readonly string[]
  /** How its further pages are asked for; absent where the reply has all results. */
  pages?: {
    /** The member of the reply with the token of the next page; null or absent on the last. */
    token: string
    request(output: string, token: string): UpstreamRequest
  }
}

/**
 * A provider's own batch service, as pure steps: requests and readings are data. Whoever drives a job sends the requests
 * and decides when. Readers throw `provider_failed` for a reply that they cannot read.
 */
export interface BatchJobs {
  /** Stored with the notes of what is left at providers, so a used name must keep its meaning. */
  readonly name: string
  readonly limits: JobLimits
  readonly uncertainCreate: UncertainCreate
  /**
   * The formats that its lines can have, of all that the provider has for live calls. An item in another format is translated
   * into one of them. Absent where its lines take every format.
   */
  readonly formats?: readonly TextFormat[]
  /** What the lines of a job ask for, by such a live request; null for what the service does not run. */
  operationOf(request: LiveRequest): string | null
  /** One line of the input, with its line end. The body is one line of JSON. */
  encodeLine(line: { id: string; operation: string; body: Uint8Array }): Uint8Array
  /** How lines become a file; null where the request that creates the job carries them. */
  readonly upload: JobUpload | null
  create(job: NewJob): UpstreamRequest
  look(jobId: string): UpstreamRequest
  /** Null where a job cannot be cancelled: it runs to its end, and then counts as one that was cancelled. */
  readonly cancel: ((jobId: string) => UpstreamRequest) | null
  /** The least wait between two looks that the provider asks for, in milliseconds; absent where it names none. */
  readonly lookWaitMs?: number
  /** Reads the reply to `create` and `look`. */
  readJob(reply: UpstreamReply): JobReading
  /** Null for an `idempotent` service, whose request is sent again. */
  readonly search: JobSearch | null
  /** The request whose reply is one output of a job. */
  download(output: string): UpstreamRequest
  /** The elements of an array in that reply are the results; absent where each line of the reply is one. */
  readonly resultsIn?: ResultArray
  /** Reads one result; null for one that cannot be read. */
  readLine(line: Uint8Array): JobLine | null
  /** Whether a job that has ended is removed like one that nobody waits for; absent where it cannot be. */
  readonly removesEnded?: boolean
  /**
   * What jobs leave at the provider: `batch_input`, `batch` and `batch_output`, by these names after the service's own. An
   * output that is no thing of its own has no kind.
   */
  readonly resources: Readonly<Record<string, ResourceKind>>
}
