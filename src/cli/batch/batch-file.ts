import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { batchItemBytesMax } from '../../core/limits/batches.ts'
import { findSyntaxFault, placeOf } from '../../json/faults.ts'
import { LineTooLong, readLines } from './read-events.ts'
import { CommandFailure } from '../failure.ts'
import { recordOrEmpty, textOrEmpty } from '../../json/values.ts'
import { size } from '../amounts.ts'

/** The settings that the items of a batch file state. */
export interface BatchFile {
  path: string
  items: number
  bytes: number
  endpoint: string
  model: string
  /** SHA-256 of the file's items, lower-case hex. */
  sha256: string
}

/** The endpoint and model from the command line, in place of those in the lines. */
export interface BatchFileOptions {
  endpoint?: string | undefined
  model?: string | undefined
}

/**
 * Reads the file once in constant memory, checks that every line is an item, and finds the endpoint and the model.
 * Throws CommandFailure, which names the first wrong line. The gateway checks the rest.
 */
export async function scanBatchFile(path: string, options: BatchFileOptions): Promise<BatchFile> {
  await requireFile(path)
  const hash = createHash('sha256')
  let items = 0
  let bytes = 0
  let number = 0
  let { endpoint, model } = options
  for await (const line of strictLines(path)) {
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

/** The items are read twice, to check them and to send them, which a pipe or a terminal cannot do. */
async function requireFile(path: string): Promise<void> {
  const facts = path === '-' ? 'pipe' : await stat(path).catch(() => null)
  if (facts === null) throw new CommandFailure(`There is no file ${path}.`)
  if (facts !== 'pipe' && facts.isFile()) return
  if (facts !== 'pipe' && facts.isDirectory())
    throw new CommandFailure(`${path} is a folder. Name the file in it that has the items.`)
  throw new CommandFailure(
    `The items are read more than once, which ${path} does not allow. Save them first: cat > items.jsonl, then: npx headrace batch run items.jsonl`,
  )
}

/**
 * The lines of a file, which must be UTF-8: invalid bytes would be replaced, and the caller would pay for changed text.
 */
async function* strictLines(path: string): AsyncGenerator<string> {
  let lines = 0
  try {
    for await (const line of readLines(Bun.file(path).stream(), new TextDecoder('utf-8', { fatal: true }))) {
      lines += 1
      yield line
    }
  } catch (error) {
    if (error instanceof LineTooLong) {
      throw new CommandFailure(
        `${path}:${lines + 1}: the line is longer than ${size(batchItemBytesMax)}. Each item has a line of its own: {"custom_id":"…","body":{…}}.`,
      )
    }
    if (!(error instanceof TypeError)) throw error
    throw new CommandFailure(
      `${path}:${await firstReplacedLine(path)}: not UTF-8. Convert the file, such as from Latin-1: iconv -f latin1 -t utf-8 ${path} > items.jsonl`,
    )
  }
}

async function firstReplacedLine(path: string): Promise<number> {
  let number = 0
  for await (const line of readLines(Bun.file(path).stream())) {
    number += 1
    if (line.includes('\ufffd')) break
  }
  return number
}

/** The number of the line that has the item with this index, so that a refusal can name it. */
export async function lineOfItem(path: string, index: number): Promise<number> {
  let items = 0
  let number = 0
  for await (const line of readLines(Bun.file(path).stream())) {
    number += 1
    if (line.trim() !== '' && items++ === index) break
  }
  return number
}

function parseItem(line: string, where: string): { url: string | null; model: string | null } {
  if (line.length > batchItemBytesMax) throw new CommandFailure(`${where}: the line is too long.`)
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    throw new CommandFailure(`${where}: not JSON: ${faultIn(line)}. A line is {"custom_id":"…","body":{…}}.`)
  }
  const item = recordOrEmpty(value)
  const body = item['body']
  if (textOrEmpty(item['custom_id']) === '')
    throw new CommandFailure(
      `${where}: custom_id ${problemOf(item['custom_id'], 'a text in quotes, not empty')}.`,
    )
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new CommandFailure(`${where}: body ${problemOf(body, 'an object, {…}')}.`)
  const { model, input } = recordOrEmpty(body)
  const url = textOrEmpty(item['url']) || null
  const guessed = url === null && input !== undefined ? '/v1/embeddings' : url
  return { url: guessed, model: textOrEmpty(model) || null }
}

/** The problem of a line, and its column. */
function faultIn(line: string): string {
  const bytes = Buffer.from(line)
  const fault = findSyntaxFault(bytes)
  return fault ? `${fault.problem} at column ${placeOf(bytes, fault.offset).column}` : 'not text in UTF-8'
}

function problemOf(value: unknown, wanted: string): string {
  return value === undefined ? 'is missing' : `must be ${wanted}`
}

/**
 * The file as the body of `POST /batches`, made while it is read. Lines pass unchanged: the gateway reads `custom_id`
 * and `body` of an item and ignores `method` and `url`, which OpenAI's lines have.
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

/** Lines are gathered into pieces of about this size: one write per line would cost more than the bytes. */
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
