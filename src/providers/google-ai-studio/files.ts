import type { TranscriptionCall } from '../../canonical/call.ts'
import type { CallAt, Exchange } from '../../canonical/steps.ts'
import type { ResourceKind } from '../../canonical/resource-notes.ts'
import type { UpstreamReply, UpstreamRequest } from '../../canonical/upstream.ts'
import { GatewayError } from '../../core/errors.ts'
import { filledTextOrNull, isRecord } from '../../json/values.ts'
import { parseAnswer, unreadable } from '../../formats/upstream-json.ts'
import type { EncodedFile } from '../../formats/transcription/base64-body.ts'

// Google's files, with the calls of its own SDK (npm @google/genai 3.1.0): the first request begins an upload, a header
// of its reply has the upload's URL, the second request sends the bytes there in one piece, and the file is polled
// until it is ready.

/** Sound with its type. */
export interface GeminiSound extends EncodedFile {
  mimeType: string
}

/** A file at Google, `files/…`. */
export interface GeminiFile {
  name: string
  uri: string
  isReady: boolean
}

type Asked = CallAt<TranscriptionCall>

const kind = 'gemini.file'
/** The interval between polls of a file that Google still processes. */
const lookEveryMs = 1_000

/** Announces a file. Throws `invalid_request` when the deployment's URL does not show the path of uploads. */
export function beginUpload({ endpoint, context }: Asked, sound: GeminiSound): UpstreamRequest {
  return {
    method: 'POST',
    ...uploadPath(endpoint.deployment.baseUrl),
    headers: {
      'content-type': 'application/json',
      'x-goog-upload-protocol': 'resumable',
      'x-goog-upload-command': 'start',
      'x-goog-upload-header-content-length': String(sound.prefix.length + sound.sizeBytes),
      'x-goog-upload-header-content-type': sound.mimeType,
    },
    body: [JSON.stringify({ file: { displayName: context.generationId } })],
  }
}

/** Sends the bytes to the URL in the reply; the file exists once they have arrived. */
export function sendUpload(
  { headers }: UpstreamReply,
  { endpoint, context }: Asked,
  sound: GeminiSound,
): Exchange {
  const place = headers.get('x-goog-upload-url') ?? ''
  if (!URL.canParse(place)) throw unreadable('it names no place for the upload')
  const { path, inPlaceOf } = uploadPath(endpoint.deployment.baseUrl)
  return {
    request: {
      method: 'POST',
      // Always to the deployment's own host: the key must not go to any host that a reply names, and behind a proxy
      // Google's host would be wrong.
      path: `${path}${new URL(place).search}`,
      inPlaceOf,
      headers: {
        'content-type': sound.mimeType,
        'x-goog-upload-command': 'upload, finalize',
        'x-goog-upload-offset': '0',
      },
      body: { contentLength: sound.prefix.length + sound.sizeBytes, open: () => withPrefix(sound) },
    },
    makes: { kind, marker: context.generationId },
  }
}

/**
 * Uploads have their own path before the version: those of `https://host/v1beta` go to
 * `https://host/upload/v1beta/files`.
 */
function uploadPath(baseUrl: string): { path: string; inPlaceOf: string } {
  const version = /\/v\d\w*$/.exec(baseUrl)?.[0]
  if (version !== undefined) return { path: `/upload${version}/files`, inPlaceOf: version }
  throw new GatewayError(
    'invalid_request',
    'The audio is too large for one request, and the address of this provider does not tell where files are uploaded. Compress the audio to mp3 or ogg.',
    { param: 'file' },
  )
}

function withPrefix({ prefix, open }: GeminiSound): ReadableStream<Uint8Array> {
  if (prefix.length === 0) return open()
  let reader: ReturnType<typeof readerOf> | null = null
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (reader === null) {
          reader = readerOf(open)
          return controller.enqueue(prefix)
        }
        const { done, value } = await reader.read()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      async cancel(reason) {
        await reader?.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}

function readerOf(open: GeminiSound['open']) {
  return open().getReader()
}

/** The file in the reply of an upload or a poll. Throws `invalid_request` when Google could not read it. */
export function readFile({ bytes }: UpstreamReply): GeminiFile {
  const wire = fileIn(parseAnswer(bytes))
  const [name, uri] = [filledTextOrNull(wire['name']), filledTextOrNull(wire['uri'])]
  if (name === null || !isFileName(name) || uri === null) throw unreadable('it names no file')
  if (wire['state'] === 'FAILED')
    throw new GatewayError('invalid_request', 'The provider could not read the audio. Send another format.', {
      param: 'file',
    })
  return { name, uri, isReady: wire['state'] !== 'PROCESSING' }
}

/** The reply of an upload has the file inside another object. */
function fileIn(wire: Record<string, unknown>): Readonly<Record<string, unknown>> {
  return isRecord(wire['file']) ? wire['file'] : wire
}

/** Whether this is a file's name: it becomes part of paths. */
export function isFileName(name: string): boolean {
  return /^files\/[\w-]{1,128}$/.test(name)
}

/**
 * Polls the file again after a wait. `polledJob` is for jobs whose result is the transcript; here the file is only an
 * upload, and the transcript is the answer to a later request that names it.
 */
export function lookAgain({ name }: GeminiFile): Exchange {
  return { request: { method: 'GET', path: `/${name}`, headers: {}, body: null }, waitMs: lookEveryMs }
}

/** Files are listed by the names that they were given, and removed by their own names. */
export const geminiFiles: Readonly<Record<string, ResourceKind>> = {
  [kind]: {
    readId({ bytes }) {
      const { name } = fileIn(parseAnswer(bytes))
      return typeof name === 'string' && isFileName(name) ? name : null
    },
    remove: (id) => ({ method: 'DELETE', path: `/${id}`, headers: {}, body: null }),
    listing: {
      request: (older) => ({
        method: 'GET',
        path: `/files?pageSize=100${older === null ? '' : `&pageToken=${encodeURIComponent(older)}`}`,
        headers: {},
        body: null,
      }),
      read({ bytes }, marker) {
        const { files, nextPageToken } = parseAnswer(bytes)
        const all = (Array.isArray(files) ? files : []).filter(isRecord)
        const times = all.flatMap(({ createTime }) => timeOf(createTime) ?? [])
        return {
          found: all.flatMap(({ name, displayName, createTime }) =>
            displayName === marker && typeof name === 'string' && isFileName(name)
              ? [{ id: name, createdAtMs: timeOf(createTime) }]
              : [],
          ),
          oldestAtMs: times.length === 0 ? null : Math.min(...times),
          older: filledTextOrNull(nextPageToken),
        }
      },
    },
  },
}

function timeOf(createTime: unknown): number | null {
  const atMs = typeof createTime === 'string' ? Date.parse(createTime) : Number.NaN
  return Number.isNaN(atMs) ? null : atMs
}
