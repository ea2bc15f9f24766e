import type { IncomingHttpHeaders } from 'node:http'
import type { ApiStyle } from '../api-style.ts'
import { ApiError } from '../errors.ts'
import type { ErrorFault, ErrorKind, Faults, StreamErrorFault } from '../faults.ts'
import type { JsonObject } from '../json.ts'
import type { Reply } from '../reply.ts'
import type { AudioAsked } from './audio-api.ts'
import { requestIdOf } from './request-id.ts'
import { say, type Said, type Saying } from './speaking.ts'

/** Code and words of a refusal. */
export interface Refusal {
  code: string
  message: string
}

/** How one API takes keys and refuses. */
export interface RefusalForm {
  /** The key of a request, or undefined when it is not where the API expects it. */
  keyOf(headers: IncomingHttpHeaders): string | undefined
  /** By status; a missing status gets a code and a text made from its number. */
  usual: Readonly<Record<number, Refusal>>
  body(error: ApiError, requestId: string): JsonObject
  /** Headers of every answer. */
  headers?: (requestId: string) => Record<string, string>
  /** The statuses of failures that differ from the usual 503, 400 and 402. */
  ofKind?: Partial<Record<ErrorKind, number>>
  /** The status that is sent, when it differs from the intended one. */
  sentStatus?: (status: number) => number
}

const ofKind: Record<ErrorKind, number> = { overloaded: 503, context_length: 400, insufficient_quota: 402 }

/** A style in which speech is refused. A bad key begins with `bad-key`. */
export function refusalStyle(form: RefusalForm): ApiStyle {
  const refuse = (status: number, fault: Partial<ErrorFault> = {}) => {
    const known = form.usual[status] ?? {
      code: `http_${status}`,
      message: `The request failed with ${status}.`,
    }
    const { code = known.code, message = known.message } = fault
    return new ApiError({ status: form.sentStatus?.(status) ?? status, code, message })
  }
  return {
    authenticate(headers) {
      const key = form.keyOf(headers)
      if (key === undefined || key === '' || key.startsWith('bad-key')) throw refuse(401)
    },
    errorBody: (error, key) => JSON.stringify(form.body(error, requestIdOf(key))),
    errorOf: (fault) =>
      refuse(
        fault.kind === undefined ? (fault.status ?? 500) : (form.ofKind?.[fault.kind] ?? ofKind[fault.kind]),
        fault,
      ),
    headers: ({ key }) => form.headers?.(requestIdOf(key)) ?? {},
  }
}

/** The key behind a scheme: `Bearer key`. */
export function keyBehind(scheme: string, header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' && header.startsWith(`${scheme} `)
    ? header.slice(scheme.length + 1)
    : undefined
}

/** A header that occurs once. */
export function oneHeader(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined
}

/** Code points of a text. */
export function lengthOf(text: string): number {
  return [...text].length
}

/** Speech as the bytes of the answer. */
export async function bytesReply(
  asked: AudioAsked,
  saying: Saying,
  more: { contentType: string; headers?: Record<string, string> },
): Promise<Reply> {
  const said = await say(saying, asked)
  return { ...replyOf(said, more), body: said.audio }
}

/** How speech is wrapped in text. */
interface Wrapping {
  wrap(piece: Buffer, index: number): string
  /** The text after the last piece. */
  end(bytes: number): string
  /** Replaces the rest when the API fails in the middle; absent when the API cannot report that. */
  failure?(fault: StreamErrorFault): string
}

/** Speech as text around each piece of it. */
export async function textReply(
  asked: AudioAsked,
  saying: Saying,
  more: Wrapping & { contentType: string },
): Promise<Reply> {
  const said = await say(saying, asked)
  return { ...replyOf(said, more), body: wrapped(said.audio, more, asked.faults) }
}

/** Speech as base64 in one member of an object, sent while it is spoken. */
export function base64Reply(asked: AudioAsked, saying: Saying, member: string): Promise<Reply> {
  let rest: Buffer = Buffer.alloc(0)
  return textReply(asked, saying, {
    contentType: 'application/json',
    wrap(piece, index) {
      const all = Buffer.concat([rest, piece])
      // Three bytes make four characters; left-over bytes go with the next piece.
      const whole = all.length - (all.length % 3)
      rest = all.subarray(whole)
      return `${index === 0 ? `{${JSON.stringify(member)}:"` : ''}${all.toString('base64', 0, whole)}`
    },
    end: () => `${rest.toString('base64')}"}`,
  })
}

function replyOf(
  { engine, dispose }: Said,
  { contentType, headers = {} }: { contentType: string; headers?: Record<string, string> },
): Omit<Reply, 'body'> {
  return { status: 200, contentType, headers: { 'x-simulator-speech': engine, ...headers }, dispose }
}

async function* wrapped(
  audio: AsyncGenerator<Uint8Array>,
  { wrap, end, failure }: Wrapping,
  { errorAfterChunks, streamError = {} }: Faults,
): AsyncGenerator<Uint8Array> {
  let index = 0
  let bytes = 0
  for await (const piece of audio) {
    if (failure && index === errorAfterChunks) return yield Buffer.from(failure(streamError))
    bytes += piece.length
    yield Buffer.from(wrap(Buffer.from(piece), index++))
  }
  yield Buffer.from(end(bytes))
}

/** A member of an object in the body. */
export function memberOf(json: JsonObject | null, ...path: string[]): unknown {
  let value: unknown = json
  for (const name of path) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    value = (value as JsonObject)[name]
  }
  return value
}

/** A number within bounds; `otherwise` when the member is absent. Throws the error of `refuse` for any other value. */
export function speedOf(
  value: unknown,
  { min, max, refuse }: { min: number; max: number; refuse: () => ApiError },
): number {
  if (value === undefined) return 1
  if (typeof value !== 'number' || value < min || value > max) throw refuse()
  return value
}
