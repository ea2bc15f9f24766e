import type { IncomingMessage } from 'node:http'
import type { ApiStyle } from '../api-style.ts'
import { ApiError } from '../errors.ts'
import type { Faults } from '../faults.ts'
import type { JsonObject } from '../json.ts'
import type { Mount } from '../mounts.ts'
import type { Programs } from '../programs.ts'
import type { ReadBody } from '../read-body.ts'
import type { Reply } from '../reply.ts'

/** A request to an audio API whose body has been read and whose key is valid. */
export interface AudioAsked {
  request: IncomingMessage
  method: string
  /** Below the API's own prefix: `/v1/listen`. */
  path: string
  query: URLSearchParams
  mount: Mount
  programs: Programs
  body: ReadBody
  /** The body as JSON; null when it is no object. */
  json: JsonObject | null
  faults: Faults
  /** Unique among the calls of this process; ids are made from it. */
  key: string
  signal: AbortSignal
}

/** One operation of an API. */
export interface AudioOperation {
  method: 'GET' | 'POST' | 'DELETE'
  /** The whole path below the prefix; its groups become `caught`. */
  path: RegExp
  /** Throws `ApiError` for requests that the provider refuses. */
  answer(asked: AudioAsked, ...caught: string[]): Reply | Promise<Reply>
}

/** A provider's own audio API, served below its slug: `/p/NAME/deepgram/v1/listen`. */
export interface AudioApi {
  slug: string
  /** How the API reads keys and words refusals. */
  style: ApiStyle
  /** The largest body, unless the mount's setting says less. */
  uploadBytesMax: number
  operations: readonly AudioOperation[]
  /** The model that a request names, or null. */
  modelOf(asked: Pick<AudioAsked, 'path' | 'query' | 'body' | 'json'>): string | null
}

/** The value of a form's field, or null. */
export function fieldOf({ form }: ReadBody, name: string): string | null {
  return form?.fields.findLast((field) => field.name === name)?.value ?? null
}

/** All values of a form's field. */
export function fieldsOf({ form }: ReadBody, name: string): string[] {
  return form?.fields.filter((field) => field.name === name).map((field) => field.value) ?? []
}

/** A text of a JSON body, or null. */
export function textMember(json: JsonObject | null, name: string): string | null {
  const value = json?.[name]
  return typeof value === 'string' ? value : null
}

/** Answers a request to an API. Throws `ApiError` 404 or 405 for operations that the API lacks. */
export function operateAudio(api: AudioApi, asked: AudioAsked): Reply | Promise<Reply> {
  const there = api.operations.flatMap((operation) => {
    const found = operation.path.exec(asked.path)
    return found === null ? [] : [{ operation, caught: found.slice(1) }]
  })
  const wanted = there.find(({ operation }) => operation.method === asked.method)
  if (wanted !== undefined) return wanted.operation.answer(asked, ...wanted.caught)
  if (there.length > 0) throw new ApiError({ status: 405, message: 'Method Not Allowed' })
  throw new ApiError({ status: 404, message: 'Not Found' })
}
