import { uploadPurposes, type UploadPurpose } from '../../canonical/file.ts'
import { fieldError } from '../../core/errors.ts'
import { type MultipartEvent, type MultipartHead, MultipartReader, parseBoundary } from '../multipart.ts'

/** Characters of a file's name; the rest is cut off. */
const fileNameLengthMax = 256
/** Bytes of one text part of an upload's form. */
const uploadFieldBytesMax = 1_024
/** The shortest and the longest life that an upload may be given, in seconds. */
const lifeSecondsMin = 3_600
const lifeSecondsMax = 2_592_000
/** How long the input of a batch is kept when nobody says. */
const batchInputLifeSeconds = 2_592_000

/** A form that was read to its end. `stored` is what its file became. */
export interface UploadForm<Stored> {
  stored: Stored
  purpose: UploadPurpose
  name: string
  mediaType: string
  lifeMs: number | null
}

/** Stores the bytes of a file as they arrive, and frees them when the rest of the form is no upload. */
export interface UploadSink<Stored> {
  store(content: AsyncIterable<Uint8Array>): Promise<Stored>
  discard(stored: Stored): Promise<void>
}

/**
 * Reads the form of an upload in flat memory, its parts in any order. A form that names no purpose has `ofNone`, where that
 * is not null. Throws `invalid_request`; then nothing is kept.
 */
export async function readUploadForm<Stored>(
  body: ReadableStream<Uint8Array>,
  contentType: string,
  { sink, ofNone }: { sink: UploadSink<Stored>; ofNone: UploadPurpose | null },
): Promise<UploadForm<Stored>> {
  const events = eventsOf(body, new MultipartReader(parseBoundary(contentType)))
  const fields = new Map<string, string>()
  let file: { head: MultipartHead; stored: Stored } | null = null
  try {
    for (let next = await events.next(); next.done !== true; next = await events.next()) {
      const event = next.value
      if (event.type !== 'begin') continue
      const { head } = event
      if (head.name !== 'file') {
        fields.set(head.name, await textOf(partOf(events), head.name))
        continue
      }
      if (file !== null) throw fieldError('file', 'appears more than once; send one file.')
      file = { head, stored: await sink.store(partOf(events)) }
    }
    if (file === null) throw fieldError('file', 'is missing: send the file as a part of the form.')
    return { stored: file.stored, ...factsOf(file.head, fields, ofNone) }
  } catch (thrown) {
    if (file !== null) await sink.discard(file.stored)
    throw thrown
  } finally {
    await events.return(undefined)
  }
}

async function* eventsOf(
  body: ReadableStream<Uint8Array>,
  reader: MultipartReader,
): AsyncGenerator<MultipartEvent, undefined> {
  for await (const chunk of body) yield* reader.push(chunk)
  reader.end()
  return undefined
}

/** The bytes of the part that has begun; they are copies, because a store may keep them for longer than a chunk lives. */
async function* partOf(events: AsyncGenerator<MultipartEvent, undefined>): AsyncGenerator<Uint8Array> {
  for (let next = await events.next(); next.done !== true; next = await events.next()) {
    if (next.value.type !== 'data') return
    yield Buffer.from(next.value.bytes)
  }
  throw fieldError('file', 'is cut off.')
}

async function textOf(part: AsyncGenerator<Uint8Array>, name: string): Promise<string> {
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of part) {
    bytes += piece.length
    if (bytes > uploadFieldBytesMax) throw fieldError(name, `is longer than ${uploadFieldBytesMax} bytes.`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}

function factsOf(
  { fileName, contentType }: MultipartHead,
  fields: ReadonlyMap<string, string>,
  ofNone: UploadPurpose | null,
) {
  const asked = fields.get('purpose') ?? ofNone
  const purpose = uploadPurposes.find((known) => known === asked)
  if (purpose === undefined) throw fieldError('purpose', `must be one of ${uploadPurposes.join(', ')}.`)
  const name = (fileName ?? '').slice(0, fileNameLengthMax)
  return {
    purpose,
    name: name === '' ? 'file' : name,
    mediaType: (contentType ?? 'application/octet-stream').slice(0, fileNameLengthMax),
    lifeMs: lifeOf(fields, purpose),
  }
}

function lifeOf(fields: ReadonlyMap<string, string>, purpose: UploadPurpose): number | null {
  const text = fields.get('expires_after[seconds]')
  if (text === undefined) return purpose === 'batch' ? batchInputLifeSeconds * 1_000 : null
  const seconds = Number(text)
  const isWhole = /^\d{1,8}$/.test(text) && seconds >= lifeSecondsMin && seconds <= lifeSecondsMax
  if (!isWhole) {
    const problem = `must be a whole number from ${lifeSecondsMin} to ${lifeSecondsMax}.`
    throw fieldError('expires_after[seconds]', problem)
  }
  return seconds * 1_000
}
