import type { Annotation, ConversationFormat, Extras } from '../../../canonical/text/conversation.ts'
import type { PartHead, TextEvent } from '../../../canonical/text/events.ts'
import { readMediaUrl } from '../media/media-source.ts'
import { PartSequence } from '../part-sequence.ts'
import { toArguments } from '../tools/tool-input.ts'
import { filledTextOrNull, isRecord, tokenCountOrNull } from '../../../json/values.ts'
import { toFinishReason } from '../finish-reason.ts'
import { olderCall, spokenExtras } from './own-parts.ts'
import { originOf } from './reasoning.ts'
import { missingCallId } from '../tools/tool-indexes.ts'
import { readLogprob } from '../logprobs.ts'

type Wire = Readonly<Record<string, unknown>>

/** How each member of a delta is read. When a delta has several, they are read in the order of the table. */
type DeltaHandlers = Readonly<Record<string, (value: unknown, delta: Wire) => void>>

/**
 * Reads one choice of a chat answer as events, delta by delta; a whole message is one delta. The deltas are in the
 * contract's form already.
 */
export class ChatChoiceReader {
  isFinished = false
  readonly #choice: number
  readonly #emit: (event: TextEvent) => void
  readonly #parts: PartSequence
  /** Makes the id of a call unique when the provider sends none. */
  readonly #idSuffix: string
  #images = 0
  /** Whether the first text of the answer was written or spoken. */
  #words: 'written' | 'spoken' | null = null
  /** The member in which calls came: the newer or the older one; null for none. */
  #calls: 'newer' | 'older' | null = null

  constructor({ choice, idSuffix }: { choice: number; idSuffix: string }, emit: (event: TextEvent) => void) {
    this.#choice = choice
    this.#idSuffix = idSuffix
    this.#emit = emit
    this.#parts = new PartSequence(choice, emit)
  }

  /** Members that are not in the table, such as `role`, are no part of the answer. */
  read(delta: Wire, logprobs: unknown): void {
    for (const [name, handle] of this.#handlers) {
      const value = name === 'logprobs' ? logprobs : delta[name]
      if (value !== undefined && value !== null && value !== '') handle(value, delta)
    }
  }

  /**
   * Closes all open parts, once. `native` is null when the provider gives no reason; `shown` is the model's own reason,
   * when it differs.
   */
  finish(native: string | null, shown: string | null): void {
    this.isFinished = true
    this.#parts.close()
    this.#emit({
      type: 'finish',
      choice: this.#choice,
      reason: toFinishReason(native ?? 'stop', this.#calls !== null),
      native: shown,
      stopSequence: null,
      refusal: null,
    })
  }

  readonly #handlers = Object.entries<DeltaHandlers[string]>({
    reasoning_details: (details) => eachRecord(details, (detail) => this.#readDetail(detail)),
    reasoning: (text, delta) => {
      // Hosts that send a thought in both members repeat it, so one is read.
      if (!hasDetails(delta)) this.#readText('thought', thought(null, 'chat'), text)
    },
    content: (text) => {
      this.#words ??= 'written'
      this.#readText('text', textHead, text)
    },
    audio: (audio) => this.#readAudio(audio),
    logprobs: (logprobs) => this.#readLogprobs(logprobs),
    refusal: (text) => this.#readText('refusal', { type: 'refusal' }, text),
    annotations: (annotations) => eachRecord(annotations, (annotation) => this.#annotate(annotation)),
    images: (images) => eachRecord(images, (image) => this.#readImage(image)),
    tool_calls: (calls) => eachRecord(calls, (call) => this.#readCall(call)),
    function_call: (call) => this.#readOlderCall(call),
  } satisfies DeltaHandlers)

  #readText(key: string, head: PartHead, text: unknown): void {
    if (typeof text === 'string') this.#parts.add(key, head, { type: 'text', text })
  }

  #readDetail(detail: Wire): void {
    const { type, index, format, id, text, signature, summary, data } = detail
    const head = thought(filledTextOrNull(id), originOf(format))
    const key = `thought ${String(index ?? id ?? '')} ${String(format ?? '')}`
    if (type === 'reasoning.text') {
      if (text !== '') this.#readText(key, head, text)
      if (typeof signature === 'string') this.#parts.add(key, head, { type: 'signature', signature })
    } else if (type === 'reasoning.summary' && typeof summary === 'string') {
      this.#parts.add(key, head, { type: 'summary', text: summary, index: 0 })
    } else if (type === 'reasoning.encrypted' && typeof data === 'string') {
      this.#parts.add(key, head, { type: 'sealed', data })
    }
  }

  #readLogprobs(logprobs: unknown): void {
    const content = isRecord(logprobs) ? logprobs['content'] : null
    if (!Array.isArray(content) || content.length === 0) return
    const tokens = content.filter(isRecord).map(readLogprob)
    this.#parts.add('text', textHead, { type: 'logprobs', tokens })
  }

  #annotate(wire: Wire): void {
    const annotation = readAnnotation(wire)
    if (annotation !== null) this.#parts.annotate(this.#words === 'spoken' ? 'spoken' : 'text', annotation)
  }

  #readImage(wire: Wire): void {
    const { image_url: image, type: _type, index: _index, ...rest } = wire
    const source = readMediaUrl((isRecord(image) ? filledTextOrNull(image['url']) : null) ?? '', 'image/png')
    if (source.kind !== 'data') return
    const { mediaType, base64 } = source
    this.#images += 1
    this.#parts.add(`image ${this.#images}`, { type: 'image', mediaType, base64, ...extrasOf(rest) }, null)
  }

  /**
   * Spoken text is read from its transcript. Only the same format carries the sound itself, and only in a whole answer.
   */
  #readAudio(wire: unknown): void {
    // Some hosts also write the spoken text as content.
    if (!isRecord(wire) || this.#words === 'written') return
    const { transcript, ...audio } = wire
    if (typeof transcript !== 'string' || transcript === '') return
    this.#words = 'spoken'
    this.#readText('spoken', { type: 'text', extras: { chat: spokenExtras(audio) } }, transcript)
  }

  #readCall(wire: Wire): void {
    this.#calls ??= 'newer'
    const { index, id, type: _type, function: called, custom, ...rest } = wire
    const head = {
      id: filledTextOrNull(id) ?? '',
      kind: isRecord(custom) ? ('custom' as const) : ('function' as const),
      ...extrasOf(rest),
    }
    this.#addCall(`call ${tokenCountOrNull(index) ?? 0}`, head, custom ?? called)
  }

  /** Before `tool_calls`, the format had one call without an id. Some hosts send a call in both members. */
  #readOlderCall(called: unknown): void {
    if (!isRecord(called) || this.#calls === 'newer') return
    this.#calls = 'older'
    const id = missingCallId(this.#idSuffix, 0)
    this.#addCall('call', { id, kind: 'function', extras: { chat: olderCall } }, called)
  }

  #addCall(
    key: string,
    head: Omit<Extract<PartHead, { type: 'tool_call' }>, 'type' | 'name'>,
    called: unknown,
  ): void {
    const { name, arguments: args, input }: Wire = isRecord(called) ? called : {}
    const text = toArguments(args ?? input)
    this.#parts.add(
      key,
      { type: 'tool_call', name: filledTextOrNull(name) ?? '', ...head },
      text === '' ? null : { type: 'arguments', text },
    )
  }
}

const textHead: PartHead = { type: 'text' }

function eachRecord(list: unknown, read: (each: Wire) => void): void {
  if (Array.isArray(list)) for (const each of list) if (isRecord(each)) read(each)
}

function hasDetails({ reasoning_details: details }: Wire): boolean {
  return Array.isArray(details) && details.length > 0
}

/** Members of a call or an image that only this format has; empty when there are none. */
function extrasOf(rest: Wire): { extras?: Extras } {
  for (const _name in rest) return { extras: { chat: rest } }
  return {}
}

function thought(id: string | null, origin: ConversationFormat | null): PartHead {
  return { type: 'reasoning', id, origin }
}

function readAnnotation(wire: Wire): Annotation | null {
  const cited = wire['url_citation']
  if (!isRecord(cited)) return null
  return {
    url: filledTextOrNull(cited['url']),
    title: filledTextOrNull(cited['title']),
    citedText: filledTextOrNull(cited['content']),
    start: tokenCountOrNull(cited['start_index']),
    end: tokenCountOrNull(cited['end_index']),
  }
}
