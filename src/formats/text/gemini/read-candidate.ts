import type {
  Finish,
  PartHead,
  Piece,
  TextEvent,
  TokenChance,
  TokenLogprob,
} from '../../../canonical/text/events.ts'
import type { AnswerContext } from '../../../canonical/upstream.ts'
import { streamHeldBytesMax, streamToolCallsMax } from '../../../core/limits/text.ts'
import { filledTextOrNull, isRecord, recordsOrEmpty } from '../../../json/values.ts'
import { missingCallId } from '../tools/tool-indexes.ts'
import { StreamedArguments } from './read-arguments.ts'
import { readFinish } from './read-finish.ts'
import { type Grounding, readAnnotations } from './read-grounding.ts'

type Wire = Readonly<Record<string, unknown>>

/** The open part. A call is open only while its arguments come piece by piece. */
type Open =
  | { kind: 'text' | 'thought'; part: number }
  | { kind: 'call'; part: number; streamed: StreamedArguments }

/** Reads one candidate of an answer as events, frame by frame; a whole answer is one frame. */
export class GeminiCandidate {
  /** Nothing may follow the end of a candidate. */
  state: 'running' | 'ended' = 'running'
  readonly #index: number
  readonly #context: AnswerContext
  readonly #emit: (event: TextEvent) => void
  #open: Open | null = null
  #parts = 0
  #calls = 0
  readonly #ids = new Set<string>()
  /** All text so far, in which sources name their places. */
  #text = ''
  readonly #grounding: Grounding = { groundingMetadata: null, citationMetadata: null }
  /** The signature of the open text; its event follows the text. */
  #signature: string | null = null

  constructor(index: number, context: AnswerContext, emit: (event: TextEvent) => void) {
    this.#index = index
    this.#context = context
    this.#emit = emit
  }

  read(wire: Wire): void {
    const { content, groundingMetadata, citationMetadata, logprobsResult } = wire
    const parts =
      isRecord(content) && Array.isArray(content['parts']) ? content['parts'].filter(isRecord) : []
    for (const part of parts) this.#readPart(part)
    if (this.state === 'ended') return
    this.#readLogprobs(readLogprobs(logprobsResult))
    this.#grounding.groundingMetadata = groundingMetadata ?? this.#grounding.groundingMetadata
    this.#grounding.citationMetadata = citationMetadata ?? this.#grounding.citationMetadata
    const finish = readFinish(wire, { sawToolCalls: this.#calls > 0, context: this.#context })
    if (finish !== null) this.finish(finish)
  }

  /** Closes the open part and adds the sources of the text. */
  finish(finish: Finish): void {
    if (this.state === 'ended') return
    const annotations = readAnnotations(this.#grounding, this.#text)
    if (annotations.length > 0) this.#openWords('text')
    for (const annotation of annotations) this.#piece({ type: 'annotation', annotation })
    this.#close()
    this.state = 'ended'
    this.#emit({ type: 'finish', choice: this.#index, ...finish })
  }

  /** The member that a part has tells its kind. */
  #readPart(wire: Wire): void {
    for (const [name, read] of this.#readers) {
      const value = wire[name]
      if (value === undefined || value === null) continue
      if (this.state === 'ended') {
        // Some models repeat the end, with an empty text beside it.
        if (value === '' || name === 'thoughtSignature') continue
        throw new Error('the answer went on behind its end')
      }
      read(value, wire)
      return
    }
  }

  /** In this order: a signature may stand beside any other member, or alone. */
  readonly #readers = Object.entries<(value: unknown, wire: Wire) => void>({
    functionCall: (value, wire) => this.#readCall(isRecord(value) ? value : {}, signatureOf(wire)),
    inlineData: (value, wire) => this.#readMedia(isRecord(value) ? value : {}, wire),
    executableCode: (_, wire) => this.#whole({ type: 'opaque', format: 'gemini', value: wire }),
    codeExecutionResult: (_, wire) => this.#whole({ type: 'opaque', format: 'gemini', value: wire }),
    toolCall: (_, wire) => this.#whole({ type: 'opaque', format: 'gemini', value: wire }),
    toolResponse: (_, wire) => this.#whole({ type: 'opaque', format: 'gemini', value: wire }),
    fileData: (_, wire) => this.#whole({ type: 'opaque', format: 'gemini', value: wire }),
    text: (value, wire) => this.#readText(value, wire),
    thoughtSignature: (_, wire) => this.#readText('', wire),
  })

  #readText(value: unknown, wire: Wire): void {
    const text = typeof value === 'string' ? value : ''
    const signature = signatureOf(wire)
    if (wire['thought'] === true) {
      if (text !== '') this.#openWords('thought')
      if (text !== '') this.#piece({ type: 'summary', text, index: 0 })
      if (signature !== null) this.#seal(signature)
      return
    }
    // The text of this signature is already emitted, so its event follows.
    if (signature !== null && this.#open?.kind !== 'text' && text !== '') this.#tellSignature(signature, null)
    else if (signature !== null) this.#signature = signature
    if (text === '') {
      if (this.#open?.kind !== 'text') this.#tellKeptSignature()
      return
    }
    this.#openWords('text')
    this.#piece({ type: 'text', text })
    if (this.#text.length + text.length <= streamHeldBytesMax) this.#text += text
  }

  /** Seals the open thought. */
  #seal(signature: string): void {
    if (this.#open?.kind !== 'thought') this.#tellSignature(signature, null)
    else {
      this.#piece({ type: 'sealed', data: signature })
      this.#close()
    }
  }

  /**
   * Emits a signature before its part, or after a text, as a thought without text; `callId` is the call it belongs to.
   */
  #tellSignature(signature: string, callId: string | null): void {
    this.#close()
    const part = this.#begin({ type: 'reasoning', id: callId, origin: 'gemini' })
    this.#emit({ type: 'piece', choice: this.#index, part, piece: { type: 'sealed', data: signature } })
    this.#emit({ type: 'part_end', choice: this.#index, part })
  }

  #tellKeptSignature(): void {
    const signature = this.#signature
    this.#signature = null
    if (signature !== null) this.#tellSignature(signature, null)
  }

  #readCall(call: Wire, signature: string | null): void {
    const name = filledTextOrNull(call['name'])
    if (name === null) {
      this.#continueCall(call)
      return
    }
    this.#close()
    if (this.#calls >= streamToolCallsMax) throw new RangeError('too many tool calls')
    const id = this.#idOf(call)
    this.#calls += 1
    if (signature !== null) this.#tellSignature(signature, id)
    const part = this.#begin({ type: 'tool_call', id, name, kind: 'function' })
    const { args, partialArgs, willContinue } = call
    const streamed = new StreamedArguments()
    this.#open = { kind: 'call', part, streamed }
    streamed.add(partialArgs)
    if (willContinue === true) return
    this.#endCall(isRecord(args) ? JSON.stringify(args) : streamed.toJson())
  }

  /** More arguments of the open call; an empty part ends the call. */
  #continueCall({ partialArgs, willContinue }: Wire): void {
    if (this.#open?.kind !== 'call') {
      if (partialArgs !== undefined) throw new Error('arguments came for a tool call that is not open')
      return
    }
    this.#open.streamed.add(partialArgs)
    if (willContinue !== true) this.#close()
  }

  #endCall(args: string): void {
    this.#piece({ type: 'arguments', text: args })
    if (this.#open) this.#emit({ type: 'part_end', choice: this.#index, part: this.#open.part })
    this.#open = null
  }

  /** Most models send no ids, and several calls must not share one. */
  #idOf(call: Wire): string {
    const given = filledTextOrNull(call['id'])
    const made = missingCallId(`${this.#context.generationId}_${this.#index}`, this.#calls)
    const id = given === null || this.#ids.has(given) ? made : given
    this.#ids.add(id)
    return id
  }

  #readMedia({ mimeType, data }: Wire, wire: Wire): void {
    const signature = signatureOf(wire)
    // An image from a thought is not part of the answer.
    if (wire['thought'] === true) return
    if (signature !== null) this.#tellSignature(signature, null)
    const isImage = typeof mimeType === 'string' && mimeType.startsWith('image/') && typeof data === 'string'
    this.#whole(
      isImage
        ? { type: 'image', mediaType: mimeType, base64: data }
        : { type: 'opaque', format: 'gemini', value: wire },
    )
  }

  #readLogprobs(tokens: readonly TokenLogprob[]): void {
    if (tokens.length === 0) return
    this.#openWords('text')
    this.#piece({ type: 'logprobs', tokens })
  }

  #whole(head: PartHead): void {
    this.#close()
    const part = this.#begin(head)
    this.#emit({ type: 'part_end', choice: this.#index, part })
  }

  #openWords(kind: 'text' | 'thought'): void {
    if (this.#open?.kind === kind) return
    this.#close()
    const head: PartHead =
      kind === 'text' ? { type: 'text' } : { type: 'reasoning', id: null, origin: 'gemini' }
    this.#open = { kind, part: this.#begin(head) }
  }

  #begin(head: PartHead): number {
    const part = this.#parts
    this.#parts += 1
    this.#emit({ type: 'part_begin', choice: this.#index, part, head })
    return part
  }

  #close(): void {
    const open = this.#open
    if (open?.kind === 'call') this.#endCall(open.streamed.toJson())
    else if (open) this.#emit({ type: 'part_end', choice: this.#index, part: open.part })
    this.#open = null
    if (open?.kind === 'text') this.#tellKeptSignature()
  }

  #piece(piece: Piece): void {
    if (this.#open) this.#emit({ type: 'piece', choice: this.#index, part: this.#open.part, piece })
  }
}

function signatureOf(wire: Wire): string | null {
  return filledTextOrNull(wire['thoughtSignature'])
}

/** The chosen tokens and their alternatives; empty when the provider sends none. */
function readLogprobs(wire: unknown): TokenLogprob[] {
  if (!isRecord(wire)) return []
  const tops = recordsOrEmpty(wire['topCandidates'])
  return recordsOrEmpty(wire['chosenCandidates']).map((chosen, place) => ({
    ...readChance(chosen),
    top: recordsOrEmpty(tops[place]?.['candidates']).map(readChance),
  }))
}

function readChance({ token, logProbability }: Wire): TokenChance {
  return {
    token: typeof token === 'string' ? token : '',
    logprob: typeof logProbability === 'number' ? logProbability : 0,
    bytes: null,
  }
}
