import { AwsV4Signer } from 'aws4fetch'
import { createHash } from 'node:crypto'
import { type Clock, systemClock } from '../../core/clock.ts'
import { textOf } from './s3-answers.ts'
import { isPassing, S3Refusal } from './s3-failures.ts'
import { bucketUrl, type S3Settings } from './s3-settings.ts'

/** How long one request may take: the time of a part of an upload at 300 kB a second. */
const s3AttemptMs = 30_000
/** Tries of one request, and the time after which none begins any more that could not end in time. */
const s3AttemptsMax = 5
const s3OperationMs = 90_000
/** The wait before the second try; the waits double. */
const s3FirstPauseMs = 100
const s3PauseMsMax = 5_000
/** Bytes of a listing or of an error. */
const s3AnswerBytesMax = 4 * 1024 * 1024

/** A signed request. */
export interface S3Request {
  method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  url: URL
  headers: Readonly<Record<string, string>>
  body: Uint8Array | null
}

/** A server's answer. Its body is read or cancelled. */
export interface S3Answer {
  status: number
  headers: { get(name: string): string | null }
  /** Rejects when the connection breaks or a successful answer is longer than `limitBytes`. */
  readAll(limitBytes: number): Promise<Uint8Array>
}

/** Sends one request, within `deadlineMs` with its body. Rejects when there is no answer; it never tries again. */
export type S3Send = (request: S3Request, deadlineMs: number) => Promise<S3Answer>

/** What is asked of the bucket. */
export interface S3Question {
  method: S3Request['method']
  /** With the store's prefix; empty for the bucket itself. */
  path: string
  query?: Readonly<Record<string, string>>
  headers?: Readonly<Record<string, string>>
  body?: Uint8Array | null
  /** SHA-256 of the body in hex, where the asker knows it. */
  bodySha256?: string
  /** Refusals that the asker handles. */
  expected?: readonly number[]
  /** Bytes of a successful answer at most. */
  bytesMax?: number
}

/** A successful or an expected answer, with its whole body. */
export interface S3Reply {
  status: number
  headers: { get(name: string): string | null }
  body: Uint8Array
  /** The server's code of a refusal; empty for a success. */
  code: string
  /** An earlier try of this request may have been carried out, because its answer was lost or was a passing failure. */
  mayBeRepeated: boolean
}

/** What requests need; `pause` and `random` are for tests. */
export interface S3RequestDependencies {
  send: S3Send
  clock?: Clock
  pause?: (ms: number) => Promise<void>
  random?: () => number
}

const emptySha256 = createHash('sha256').digest('hex')

/** Signs requests to one bucket and repeats them while their failures may pass. */
export class S3Requests {
  readonly #settings: S3Settings
  readonly #root: string
  readonly #send: S3Send
  readonly #clock: Clock
  readonly #pause: (ms: number) => Promise<void>
  readonly #random: () => number
  /** Keys that are derived from the secret; one a day. */
  #derived = new Map<string, ArrayBuffer>()
  #derivedOn = ''

  constructor(settings: S3Settings, dependencies: S3RequestDependencies) {
    this.#settings = settings
    this.#root = bucketUrl(settings)
    this.#send = dependencies.send
    this.#clock = dependencies.clock ?? systemClock
    this.#pause = dependencies.pause ?? ((ms) => Bun.sleep(ms))
    this.#random = dependencies.random ?? Math.random
  }

  /** Rejects with `S3Refusal`, or with the error of the last try when the server did not answer. */
  async ask(question: S3Question): Promise<S3Reply> {
    const endMs = this.#clock.monotonicMs() + s3OperationMs
    for (let attempt = 1; ; attempt += 1) {
      const leftMs = endMs - this.#clock.monotonicMs()
      const isLast = attempt === s3AttemptsMax || leftMs < s3AttemptMs
      const outcome = await this.#try(question).catch((thrown: unknown) => ({ thrown }))
      if (!('thrown' in outcome)) {
        const { status, code } = outcome
        if (status < 300 || question.expected?.includes(status) === true)
          return { ...outcome, mayBeRepeated: attempt > 1 }
        if (isLast || !isPassing({ status, code })) throw new S3Refusal(status, code)
      } else if (isLast) throw outcome.thrown
      const wishedMs = 'headers' in outcome ? Number(outcome.headers.get('retry-after') ?? 0) * 1_000 : 0
      await this.#pause(Math.min(Math.max(this.#pauseMs(attempt), wishedMs || 0), s3PauseMsMax))
    }
  }

  /** Doubles; the random part keeps processes that failed together from asking together. */
  #pauseMs(attempt: number): number {
    return s3FirstPauseMs * 2 ** (attempt - 1) * (0.5 + this.#random())
  }

  async #try(question: S3Question): Promise<Omit<S3Reply, 'mayBeRepeated'>> {
    const answer = await this.#send(await this.#sign(question), s3AttemptMs)
    const { status, headers } = answer
    const body = await answer.readAll(question.bytesMax ?? s3AnswerBytesMax)
    if (status < 300) {
      const { method } = question
      // A server may notice that completing an upload fails after it has begun a successful answer.
      const late = method === 'POST' ? codeIn(body) : ''
      return late === '' ? { status, headers, body, code: '' } : { status: 500, headers, body, code: late }
    }
    return { status, headers, body, code: codeIn(body) || String(status) }
  }

  async #sign({
    method,
    path,
    query = {},
    headers = {},
    body = null,
    bodySha256,
  }: S3Question): Promise<S3Request> {
    const url = new URL(`${this.#root}/${path}`)
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    const sha256 =
      bodySha256 ?? (body === null ? emptySha256 : createHash('sha256').update(body).digest('hex'))
    const { accessKeyId, secretAccessKey, sessionToken, region } = this.#settings
    const datetime = new Date(this.#clock.nowMs()).toISOString().replace(/[:-]|\.\d{3}/g, '')
    const signer = new AwsV4Signer({
      method,
      url: url.href,
      headers: { ...headers, 'x-amz-content-sha256': sha256 },
      accessKeyId,
      secretAccessKey,
      ...(sessionToken === null ? {} : { sessionToken }),
      service: 's3',
      region,
      datetime,
      cache: this.#keysOf(datetime.slice(0, 8)),
    })
    const signed = await signer.sign()
    return { method, url: signed.url, headers: Object.fromEntries(signed.headers), body }
  }

  #keysOf(day: string): Map<string, ArrayBuffer> {
    if (day !== this.#derivedOn) this.#derived = new Map()
    this.#derivedOn = day
    return this.#derived
  }
}

function codeIn(body: Uint8Array): string {
  const text = new TextDecoder().decode(body.subarray(0, 4_096))
  return text.includes('<Error>') ? (textOf(text, 'Code') ?? 'Error') : ''
}
