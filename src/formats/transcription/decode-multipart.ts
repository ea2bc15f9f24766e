import type { AudioIntake, AudioSpool, DecodedTranscription } from '../../canonical/audio.ts'
import { fieldError, GatewayError } from '../../core/errors.ts'
import { audioFieldsBytesMax, audioFieldsDepthMax } from '../../core/limits/audio.ts'
import { droppedNamesMax } from '../../core/limits/batches.ts'
import type { AudioHeaders } from './audio-fields.ts'
import { parseField } from '../field-error.ts'
import { describeFault } from '../../json/faults.ts'
import { isNestedWithin, requireUniqueNames } from '../../json/scan.ts'
import { type MultipartEvent, MultipartReader, parseBoundary, type MultipartHead } from '../multipart.ts'
import {
  formatOfFileName,
  formatOfMimeType,
  localAudio,
  readChunks,
  type StatedFormat,
} from './received-audio.ts'
import {
  inContract,
  remoteAudio,
  requireResponseFormat,
  toTranscriptionCall,
  transcriptionFormSchema,
} from './transcription-request.ts'

/** The contents of a form: its text parts in order, the head of its file, and the names of unknown parts. */
interface Form {
  texts: Map<string, string[]>
  file: MultipartHead | null
  dropped: Set<string>
}

/** The inputs of an upload besides its bytes. */
export interface MultipartOptions {
  /** The request's content type with its boundary. */
  contentType: string
  intake: AudioIntake
  headers: AudioHeaders
}

/**
 * Reads a multipart transcription request of any size in constant memory. Throws `invalid_request`, which names the
 * part, `payload_too_large`, or `storage_unavailable`; nothing is left on disk then.
 */
export async function decodeTranscriptionMultipart(
  body: ReadableStream<Uint8Array>,
  options: MultipartOptions,
): Promise<DecodedTranscription> {
  const spool = options.intake.createSpool()
  try {
    return await toDecoded(await readForm(body, spool, options.contentType), spool, options)
  } catch (error) {
    await spool.discard()
    throw error
  }
}

async function toDecoded(
  form: Form,
  spool: AudioSpool,
  options: MultipartOptions,
): Promise<DecodedTranscription> {
  const { fields, headers } = inContract(toFields(form), options.headers)
  requireResponseFormat(fields, headers)
  const wire = parseField(transcriptionFormSchema, '', fields)
  if ((form.file === null) === (wire.source_url === undefined)) {
    throw fieldError('file', 'or `source_url` is required, exactly one of the two.')
  }
  const dropped = [...form.dropped]
  if (form.file === null) {
    const url = wire.source_url ?? ''
    const audio = remoteAudio(url, { field: 'source_url', statedFormat: null })
    const made = toTranscriptionCall(wire, audio, headers, dropped)
    await spool.discard()
    return { ...made, dispose: () => Promise.resolve() }
  }
  const stored = await spool.finish()
  const audio = await localAudio(stored, statedOf(form.file), options.intake)
  return { ...toTranscriptionCall(wire, audio, headers, dropped), dispose: () => stored.dispose() }
}

/** The format by the file's name, otherwise by the part's content type, as clients write them. */
function statedOf({ fileName, contentType }: MultipartHead): StatedFormat {
  const byName = formatOfFileName(fileName)
  return {
    format: byName ?? formatOfMimeType(contentType),
    param: 'file',
    says: byName === null ? 'The content type of "file" says' : 'The name of "file" says',
    formatParam: 'file',
  }
}

async function readForm(
  body: ReadableStream<Uint8Array>,
  spool: AudioSpool,
  contentType: string,
): Promise<Form> {
  const reader = new MultipartReader(parseBoundary(contentType))
  const collector = new FormCollector(spool)
  await readChunks(body, async (chunk) => {
    for (const event of reader.push(chunk)) await collector.take(event)
  })
  reader.end()
  return collector.form
}

/** Sorts a form's events: the file goes to the spool, known text parts to memory, and other parts are dropped. */
class FormCollector {
  readonly form: Form = { texts: new Map(), file: null, dropped: new Set() }
  readonly #spool: AudioSpool
  #target: 'file' | 'text' | 'nowhere' = 'nowhere'
  #name = ''
  #text: Uint8Array[] = []
  #textBytes = 0

  constructor(spool: AudioSpool) {
    this.#spool = spool
  }

  async take(event: MultipartEvent): Promise<void> {
    if (event.type === 'begin') return this.#begin(event.head)
    if (event.type === 'end') return this.#end()
    if (this.#target === 'file') return this.#spool.write(event.bytes)
    if (this.#target === 'text') this.#keepText(event.bytes)
  }

  #begin(head: MultipartHead): void {
    this.#name = head.name.replace(/\[\d*\]$/, '')
    this.#text = []
    if (this.#name === 'file') {
      if (this.form.file) throw fieldError('file', 'appears more than once; send one file.')
      this.form.file = head
      this.#target = 'file'
    } else if (Object.hasOwn(transcriptionFormSchema.shape, this.#name)) {
      this.#target = 'text'
    } else {
      this.#target = 'nowhere'
      if (this.form.dropped.size < droppedNamesMax) this.form.dropped.add(head.name.slice(0, 64))
    }
  }

  #end(): void {
    if (this.#target !== 'text') return
    const values = this.form.texts.get(this.#name) ?? []
    values.push(decodeText(this.#name, Buffer.concat(this.#text)))
    this.form.texts.set(this.#name, values)
  }

  #keepText(bytes: Uint8Array): void {
    this.#textBytes += bytes.length
    if (this.#textBytes > audioFieldsBytesMax) {
      throw new GatewayError(
        'payload_too_large',
        `The text parts are larger than ${audioFieldsBytesMax} bytes together. Shorten them.`,
      )
    }
    // A copy, because the event's bytes are valid only now.
    this.#text.push(new Uint8Array(bytes))
  }
}

function decodeText(name: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw fieldError(name, 'is not UTF-8 text; encode it as such.')
  }
}

/** Text parts as values for the schema. Text that is not a valid value stays text, and the schema refuses it. */
function toFields(form: Form): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  for (const [name, values] of form.texts) {
    if (name === 'timestamp_granularities' || name === 'keyterms') {
      fields[name] = toList(values, name === 'timestamp_granularities')
      continue
    }
    if (values.length > 1) throw fieldError(name, 'appears more than once; send it once.')
    fields[name] = toValue(name, values[0] ?? '')
  }
  return fields
}

/**
 * Clients send lists as repeated parts, as JSON in one part, or as one part joined by commas. Lists whose entries
 * cannot contain commas are always split. Key terms are split only when they came as one part, so a repeated term may
 * contain a comma.
 */
function toList(values: readonly string[], isAlwaysSplit: boolean): string[] {
  const [first = ''] = values
  const listed = values.length === 1 ? jsonTexts(first) : null
  if (listed !== null) return listed
  if (!isAlwaysSplit && values.length > 1) return [...values]
  return values.flatMap((value) => value.split(',').map((item) => item.trim()))
}

/** Null for text that is not a JSON array of texts; a term may begin with a bracket. */
function jsonTexts(text: string): string[] | null {
  if (!text.trimStart().startsWith('[')) return null
  try {
    const list = JSON.parse(text) as unknown[]
    return list.every((item) => typeof item === 'string') ? list : null
  } catch {
    return null
  }
}

function toValue(name: string, text: string): unknown {
  if (name === 'temperature') return /^-?\d+(\.\d+)?(e-?\d+)?$/i.test(text) ? Number(text) : text
  if (name === 'diarize' || name === 'stream') return text === 'true' || (text === 'false' ? false : text)
  return name === 'provider' || name === 'trace' ? parseJsonText(name, text) : text
}

function parseJsonText(name: string, text: string): unknown {
  if (!isNestedWithin(text, audioFieldsDepthMax))
    throw fieldError(name, `is nested deeper than ${audioFieldsDepthMax} levels; flatten it.`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw fieldError(name, `must be the JSON text of an object: ${describeFault(Buffer.from(text))}.`)
  }
  requireUniqueNames(Buffer.from(text))
  return value
}
