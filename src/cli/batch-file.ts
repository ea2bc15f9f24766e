import { createHash } from 'node:crypto'
import { batchItemBytesMax } from '../core/limits.ts'
import { readLines } from './event-stream.ts'
import { CommandFailure } from './failure.ts'
import { asObject, textOf } from './json.ts'

/** What a file of batch items asks for. */
export interface BatchFile {
  path: string
  items: number
  bytes: number
  endpoint: string
  model: string
  /** SHA-256 of the file's items, lower-case hex. */
  sha256: string
}

/** What the caller said instead of letting the lines say it. */
export interface BatchFileOptions {
  endpoint?: string | undefined
  model?: string | undefined
}

/**
 * Reads the file once in flat memory, checks that every line is an item and finds endpoint and model. Throws
 * CommandFailure that names the first line that is wrong. The gateway checks the rest.
 */
export async function scanBatchFile(path: string, options: BatchFileOptions): Promise<BatchFile> {
  const file = Bun.file(path)
  if (!(await file.exists())) throw new CommandFailure(`There is no file ${path}.`)
  const hash = createHash('sha256')
  let items = 0
  let bytes = 0
  let number = 0
  let { endpoint, model } = options
  for await (const line of readLines(file.stream())) {
    number += 1
    if (line.trim() === '') continue
    const item = parseItem(line, `${path}:${number}`)
    endpoint ??= item.url ?? undefined
    model ??= item.model ?? undefined
    if (item.url !== null && item.url !== endpoint) {
      throw new CommandFailure(
        `${path}:${number}: url is ${item.url}, but the batch is for ${endpoint}; use one file each.`,
      )
    }
    hash.update(line).update('\n')
    items += 1
    bytes += Buffer.byteLength(line) + 1
  }
  if (items === 0) throw new CommandFailure(`${path} has no items. A line is {"custom_id":"…","body":{…}}.`)
  if (model === undefined) {
    throw new CommandFailure(`No line of ${path} names a model. Name it: --model openai/gpt-4o-mini`)
  }
  return {
    path,
    items,
    bytes,
    endpoint: endpoint ?? '/v1/chat/completions',
    model,
    sha256: hash.digest('hex'),
  }
}

function parseItem(line: string, where: string): { url: string | null; model: string | null } {
  if (line.length > batchItemBytesMax) throw new CommandFailure(`${where}: the line is too long.`)
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    throw new CommandFailure(`${where}: not JSON. A line is {"custom_id":"…","body":{…}}.`)
  }
  const item = asObject(value)
  const body = item['body']
  if (textOf(item['custom_id']) === '') throw new CommandFailure(`${where}: custom_id is missing.`)
  if (typeof body !== 'object' || body === null) throw new CommandFailure(`${where}: body is missing.`)
  const { model, input } = asObject(body)
  const url = textOf(item['url']) || null
  const guessed = url === null && input !== undefined ? '/v1/embeddings' : url
  return { url: guessed, model: textOf(model) || null }
}

/**
 * The file as the body of `POST /batches`, made while it is read. Lines go as they are: the gateway reads `custom_id` and
 * `body` of an item and ignores `method` and `url`, which OpenAI's lines have.
 */
export function uploadOf(file: BatchFile, onBytes: (sent: number) => void): ReadableStream<Uint8Array> {
  const pieces = uploadPieces(file)
  let sent = 0
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await pieces.next()
      if (next.done === true) {
        controller.close()
        return
      }
      sent += next.value.byteLength
      onBytes(sent)
      controller.enqueue(next.value)
    },
    async cancel() {
      await pieces.return()
    },
  })
}

/** Lines gathered into pieces of about this size: one write for each would cost more than the bytes. */
const pieceCharacters = 65_536

async function* uploadPieces(file: BatchFile): AsyncGenerator<Uint8Array, void> {
  const encoder = new TextEncoder()
  let text = `{"endpoint":${JSON.stringify(file.endpoint)},"model":${JSON.stringify(file.model)},"requests":[`
  let isFirst = true
  for await (const line of readLines(Bun.file(file.path).stream())) {
    if (line.trim() === '') continue
    text += isFirst ? line : `,${line}`
    isFirst = false
    if (text.length < pieceCharacters) continue
    yield encoder.encode(text)
    text = ''
  }
  yield encoder.encode(`${text}]}`)
}
