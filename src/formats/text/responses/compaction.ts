import { fieldError, GatewayError } from '../../../core/errors.ts'
import { streamFrameBytesMax, streamPictureFrameBytesMax } from '../../../core/limits/text.ts'
import { toBuffer } from '../../../json/bytes.ts'
import {
  editDocument,
  elementsOf,
  hasMember,
  type JsonDocument,
  memberBytes,
  memberValue,
  parseJsonDocument,
} from '../../../json/document.ts'
import { findMember } from '../../../json/scan.ts'
import {
  listOrEmpty,
  recordOrEmpty,
  recordsOrEmpty,
  textOrEmpty,
  type WireRecord,
} from '../../../json/values.ts'
import { createFrameSplitter, readFrameData, toBytes, toUtf8 } from '../../sse.ts'
import type {
  Compaction,
  CompactionFormat,
  CompactionRequest,
  CompactionStream,
  SealedPart,
  SealPart,
} from '../compaction-format.ts'

/** Larger bodies are not read for it: their input has to be parsed in one turn of the event loop. */
const bodyBytesMax = 16_000_000
const quote = 0x22

/** Of what the caller said, so many characters are given back word by word beside a summary, the newest first. */
const wordsKeptMax = 60_000

/** What asks a model for a summary. */
const task = [
  'Stop here for a moment: this conversation has become too long and goes on without its beginning.',
  'Write a note from which someone who has seen nothing of it can carry on at once.',
  'Include what the user wants, in the user’s own words where they matter; what was decided and why; what has been done,',
  'with the exact names of files, commands, values and identifiers that are still needed; what failed and what was learnt',
  'from it; and what is left to do, in order. Leave out what is no longer needed.',
  'Use no tools and ask nothing. Answer with the note alone.',
].join(' ')

/** How a summary begins when a model is shown it. A compaction after it knows it by these words. */
const lead = 'The conversation up to here was compacted. What happened in it:\n\n'

/** Compaction of responses: an item `compaction_trigger` asks for it, an item `compaction` is what it makes. */
export const responsesCompaction: CompactionFormat = {
  mayConcern: (body) => body.length <= bodyBytesMax && toBuffer(body).includes('"compaction'),
  read(body, lean, isAsked) {
    if (body.length > bodyBytesMax)
      throw new GatewayError(
        'payload_too_large',
        `A conversation to compact may have at most ${bodyBytesMax} bytes.`,
      )
    const document = parseJsonDocument(body, lean)
    const items = itemsOf(document)
    const last = items.length - 1
    const sealed: (SealedPart & { index: number })[] = []
    let isWished = isAsked
    for (const [index, item] of items.entries()) {
      if (!item.includes('"compaction')) continue
      const type = textOf(item, 'type')
      if (type === 'compaction_trigger' && index < last)
        throw fieldError(`input[${index}].type`, 'is compaction_trigger, which must be the last item.')
      if (type === 'compaction_trigger') isWished = true
      const text = type === 'compaction' ? textOf(item, 'encrypted_content') : ''
      if (text.startsWith(partPrefix))
        sealed.push({ index, text, param: `input[${index}].encrypted_content` })
    }
    if (sealed.length === 0 && !isWished) return null
    const isTriggered = isWished && !isAsked
    return requestOf({ document, items: isTriggered ? items.slice(0, -1) : items, sealed, isWished, isAsked })
  },
}

/** How every part that this gateway has sealed begins; parts of providers begin otherwise and go on to them. */
const partPrefix = 'hrc1.'

/** Whether an item of an input is such a part. */
export function isSealedPart(item: WireRecord): boolean {
  return textOrEmpty(item['encrypted_content']).startsWith(partPrefix)
}

interface Read {
  document: JsonDocument
  items: readonly Buffer[]
  sealed: readonly (SealedPart & { index: number })[]
  isWished: boolean
  isAsked: boolean
}

function requestOf({ document, items, sealed, isWished, isAsked }: Read): CompactionRequest {
  const openedItems = (opened: readonly string[]): Buffer[] => {
    const parts = new Map(sealed.map(({ index }, at) => [index, opened[at] ?? '']))
    return items.flatMap((item, index) => {
      const part = parts.get(index)
      return part === undefined ? [item] : elementsOf(Buffer.from(`[${part}]`))
    })
  }
  return {
    sealed,
    bodyWith(opened) {
      const whole = openedItems(opened)
      if (!isWished) return editDocument(document, { set: { input: listOf(whole) } })
      if (whole.length === 0)
        throw fieldError('input', 'has nothing to compact. Send the conversation before it.')
      return taskBody(document, whole, isAsked)
    },
    compact(opened) {
      if (!isWished) return null
      return isAsked ? aloneCompaction(callerWords(openedItems(opened))) : compactionOnTheWay
    },
  }
}

/** The call for the summary: the same model, tools and beginning, so that the provider's cache has most of it. */
function taskBody(document: JsonDocument, items: readonly Buffer[], isAsked: boolean): Uint8Array {
  const hasTools = hasMember(document, 'tools') && listOrEmpty(memberValue(document, 'tools')).length > 0
  return editDocument(document, {
    set: {
      input: listOf([...items, ...missingOutputs(items), Buffer.from(messageItem(task))]),
      ...(hasTools ? { tool_choice: '"none"' } : {}),
      ...(isAsked ? { stream: 'false' } : {}),
    },
    remove: ['text', 'tool_choice', 'context_management'],
  })
}

const outputOf: Readonly<Record<string, string>> = {
  function_call: 'function_call_output',
  custom_tool_call: 'custom_tool_call_output',
}

/** Calls that were not carried out before the conversation is compacted: strict providers refuse them without an output. */
function missingOutputs(items: readonly Buffer[]): Buffer[] {
  const open = new Map<string, string>()
  for (const item of items) {
    const [type, id] = [textOf(item, 'type'), textOf(item, 'call_id')]
    const output = outputOf[type]
    if (output !== undefined) open.set(id, output)
    else if (type.endsWith('_output')) open.delete(id)
  }
  return Array.from(open, ([call_id, type]) =>
    Buffer.from(JSON.stringify({ type, call_id, output: 'It was not carried out.' })),
  )
}

function listOf(items: readonly Buffer[]): (string | Buffer)[] {
  return [...items.flatMap((item, index) => [index === 0 ? '[' : ',', item]), items.length === 0 ? '[]' : ']']
}

function itemsOf(document: JsonDocument): Buffer[] {
  const input = memberBytes(document, 'input')
  if (input === null) return []
  // Throws where it is not JSON, which what follows relies on.
  const value = memberValue(document, 'input')
  if (typeof value === 'string') return [Buffer.from(messageItem(value))]
  return Array.isArray(value) ? elementsOf(toBuffer(input)) : []
}

/** A member's text in the bytes of an object; empty for any other value. */
function textOf(item: Buffer, name: string): string {
  const { value } = findMember(item, name)
  return value?.[0] === quote ? (JSON.parse(value.toString('utf8')) as string) : ''
}

function messageItem(text: string): string {
  return JSON.stringify({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] })
}

/** What the caller said last, as items, without pictures and without earlier summaries. */
function callerWords(items: readonly Buffer[]): string[] {
  const kept: string[] = []
  let length = 0
  for (const bytes of items.toReversed()) {
    const { type = 'message', role, content } = recordOrEmpty(JSON.parse(bytes.toString('utf8')))
    if (type !== 'message' || role !== 'user') continue
    const text = typeof content === 'string' ? content : textsIn(content)
    if (text === '' || text.startsWith(lead)) continue
    const left = wordsKeptMax - length
    if (left <= 0) break
    length += text.length
    kept.push(messageItem(text.length > left ? text.slice(-left) : text))
  }
  return kept.toReversed()
}

function textsIn(content: unknown): string {
  return recordsOrEmpty(content)
    .map(({ text }) => textOrEmpty(text))
    .filter((text) => text !== '')
    .join('\n')
}

const summaryOf = (response: WireRecord): string =>
  recordsOrEmpty(response['output'])
    .filter(({ type }) => type === 'message')
    .map(({ content }) => textsIn(content))
    .join('\n\n')
    .trim()

async function compactionItem(id: string, part: string, seal: SealPart): Promise<WireRecord> {
  return { id: `cmp_${id}`, type: 'compaction', encrypted_content: `${partPrefix}${await seal(part)}` }
}

const noSummary = 'The model wrote no summary, so nothing was compacted. Try again, or ask another model.'

/** The answer to a trigger: one item. Codex keeps what its user said beside it, so that the item need not repeat that. */
const compactionOnTheWay: Compaction = {
  writeAnswer: async (answer, seal) => JSON.stringify(await withItem(parsed(answer), seal)),
  createStream: (seal) => new CompactionEvents((response) => withItem(response, seal)),
}

async function withItem(response: WireRecord, seal: SealPart): Promise<WireRecord> {
  const summary = summaryOf(response)
  if (summary === '') return failed(response)
  const output = [await compactionItem(textOrEmpty(response['id']), messageItem(lead + summary), seal)]
  return { ...response, status: 'completed', incomplete_details: null, output }
}

/** The answer to a call for nothing else: what the caller said stands beside the item. */
function aloneCompaction(words: readonly string[]): Compaction {
  return {
    async writeAnswer(answer, seal) {
      const response = parsed(answer)
      const { id, created_at, usage } = response
      const summary = summaryOf(response)
      if (summary === '') throw new GatewayError('provider_failed', noSummary)
      const item = await compactionItem(textOrEmpty(id), messageItem(lead + summary), seal)
      const output = [...words.map((word) => JSON.parse(word) as unknown), item]
      return JSON.stringify({ id, object: 'response.compaction', created_at, output, usage })
    },
    createStream: () => {
      throw new Error('a call for a compaction alone does not stream')
    },
  }
}

function failed(response: WireRecord): WireRecord {
  return { ...response, status: 'failed', error: { code: 'server_error', message: noSummary }, output: [] }
}

function parsed(bytes: Uint8Array): WireRecord {
  return recordOrEmpty(JSON.parse(toBuffer(bytes).toString('utf8')))
}

/** Events that a caller sees of the model's answer as they are: how it begins, and why it failed. */
const shownEvents: ReadonlySet<unknown> = new Set([
  'response.created',
  'response.in_progress',
  'response.queued',
  'response.failed',
  'error',
])

/** The events of a compaction: the beginning of the model's answer, one item, the end. */
class CompactionEvents implements CompactionStream {
  readonly #finish: (response: WireRecord) => Promise<WireRecord>
  readonly #splitter = createFrameSplitter(streamFrameBytesMax, streamPictureFrameBytesMax)
  /** The items that were complete: some providers leave them out of the last event. */
  readonly #output: unknown[] = []
  #sequence = 0

  constructor(finish: (response: WireRecord) => Promise<WireRecord>) {
    this.#finish = finish
  }

  push(chunk: Uint8Array): Promise<Uint8Array> {
    return this.#show(this.#splitter.push(chunk))
  }

  end(): Promise<Uint8Array> {
    return this.#show(this.#splitter.end())
  }

  async #show(frames: string | null): Promise<Uint8Array> {
    let shown = ''
    for (const frame of frames?.split('\n\n') ?? []) {
      const data = readFrameData(frame)
      if (data === null) shown += frame === '' ? '' : `${frame}\n\n`
      else if (data.startsWith('{')) shown += await this.#event(recordOrEmpty(JSON.parse(toUtf8(data))))
      else shown += `data: ${data}\n\n`
    }
    return toBytes(shown)
  }

  async #event(event: WireRecord): Promise<string> {
    const { type } = event
    if (type === 'response.output_item.done') this.#output.push(event['item'])
    if (shownEvents.has(type)) return this.#frame(String(type), event)
    if (type !== 'response.completed' && type !== 'response.incomplete') return ''
    const told = recordOrEmpty(event['response'])
    const output = listOrEmpty(told['output']).length > 0 ? told['output'] : this.#output
    const response = await this.#finish({ ...told, output })
    const [item] = listOrEmpty(response['output'])
    if (item === undefined) return this.#frame('response.failed', { response })
    return (
      this.#frame('response.output_item.added', { output_index: 0, item }) +
      this.#frame('response.output_item.done', { output_index: 0, item }) +
      this.#frame('response.completed', { response })
    )
  }

  /** As latin1 text of UTF-8 bytes, like everything that is read of a stream. */
  #frame(type: string, members: WireRecord): string {
    const data = JSON.stringify({ ...members, type, sequence_number: this.#sequence })
    this.#sequence += 1
    return `event: ${type}\ndata: ${Buffer.from(data).toString('latin1')}\n\n`
  }
}
