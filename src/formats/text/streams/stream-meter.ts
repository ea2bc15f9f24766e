import type { Answer, AnswerPart } from '../../../canonical/text/answer.ts'
import type { FinishEvent, PartHead, ReportedUsage, TextEvent } from '../../../canonical/text/events.ts'
import type { MeterReading } from '../../../canonical/upstream.ts'

/** Counts the events of a stream for the meter and for the end of the stream. */
export class StreamMeter {
  readonly finishes: FinishEvent[] = []
  usage: ReportedUsage | null = null
  readonly #reading = emptyReading()
  /** Choices that have begun and not ended. */
  readonly #running = new Set<number>()
  #providerCalls = 0

  read(event: TextEvent): void {
    switch (event.type) {
      case 'begin':
        this.#reading.upstreamId ??= event.upstreamId
        this.#reading.upstreamModel ??= event.upstreamModel
        return
      case 'usage':
        this.usage = event.usage
        return
      case 'finish':
        this.#running.delete(event.choice)
        this.finishes.push(event)
        // A choice with neither output nor a finish reason is not billed as an answer.
        if (event.native !== null || this.#reading.outputPieces > 0)
          this.#reading.finishReason ??= event.reason
        this.#reading.nativeFinishReason ??= event.native
        return
      case 'part_begin':
        this.#running.add(event.choice)
        if (event.head.type === 'tool_call') this.addPiece(Buffer.byteLength(event.head.name))
        else if (isWhole(event.head)) {
          this.#reading.outputPieces += 1
          if (isProviderCall(event.head)) this.#providerCalls += 1
        }
        return
      case 'piece':
        if ('text' in event.piece) this.addPiece(Buffer.byteLength(event.piece.text))
        return
      case 'part_end':
      case 'failure':
    }
  }

  /** Whether usage has come and everything that began has ended. */
  get isAccounted(): boolean {
    return this.usage !== null && this.finishes.length > 0 && this.#running.size === 0
  }

  get outputBytes(): number {
    return this.#reading.outputBytes
  }

  get outputPieces(): number {
    return this.#reading.outputPieces
  }

  reading(): MeterReading {
    const { usage } = this
    return {
      ...this.#reading,
      usage: usage?.usage ?? null,
      source: usage ? 'provider' : 'estimated',
      mediaTokens: usage?.mediaTokens ?? null,
      serviceTier: usage?.serviceTier ?? null,
      reportedCostNanocredits: usage?.reportedCostNanocredits ?? null,
      ...callsShown(this.#providerCalls, usage),
    }
  }

  /** Counts a piece of this many bytes that was not read as an event. */
  addPiece(bytes: number): void {
    this.#reading.outputBytes += bytes
    this.#reading.outputPieces += 1
  }
}

/**
 * Whether a part counts as one piece, whatever its size: the model is not paid for the bytes of a picture, nor for the
 * findings of a provider's search.
 */
export function isWhole({ type }: PartHead): boolean {
  return type === 'image' || type === 'opaque'
}

/** Whether the part is a search by the provider, or a call of a tool that the provider ran. */
export function isProviderCall(head: PartHead): boolean {
  if (head.type !== 'opaque') return false
  const { type } = head.value
  return typeof type === 'string' ? providerCallTypes.test(type) : 'toolCall' in head.value
}

/** `web_search_call` and the like of responses, `server_tool_use` and `mcp_tool_use` of messages. */
const providerCallTypes = /(?:_call|tool_use)$/

/** The number of the provider's own calls in an answer: its parts, or the count that stands beside the tokens. */
export function callsShown(parts: number, usage: ReportedUsage | null): Pick<MeterReading, 'providerCalls'> {
  const providerCalls = Math.max(parts, usage?.providerCalls ?? 0)
  return providerCalls === 0 ? {} : { providerCalls }
}

/** A reading before anything was counted. */
export function emptyReading(): MeterReading {
  return {
    usage: null,
    source: 'estimated',
    finishReason: null,
    nativeFinishReason: null,
    upstreamId: null,
    upstreamModel: null,
    mediaTokens: null,
    serviceTier: null,
    outputBytes: 0,
    outputPieces: 0,
    reportedCostNanocredits: null,
  }
}

/** The meter's reading of a whole answer. */
export function readingOf({ upstreamId, upstreamModel, choices, usage }: Answer): MeterReading {
  const parts = choices.flatMap((choice) => choice.parts)
  const pieces = parts.filter((part) => sizeOf(part) > 0 || isWhole(part.head))
  const finish = choices[0]?.finish ?? null
  // A choice with neither output nor a finish reason is not billed as an answer.
  const isAnswer = finish !== null && (finish.native !== null || pieces.length > 0)
  return {
    ...emptyReading(),
    usage: usage?.usage ?? null,
    source: usage ? 'provider' : 'estimated',
    finishReason: isAnswer ? finish.reason : null,
    nativeFinishReason: finish?.native ?? null,
    upstreamId,
    upstreamModel,
    mediaTokens: usage?.mediaTokens ?? null,
    serviceTier: usage?.serviceTier ?? null,
    outputBytes: parts.reduce((sum, part) => sum + sizeOf(part), 0),
    outputPieces: pieces.length,
    reportedCostNanocredits: usage?.reportedCostNanocredits ?? null,
    ...callsShown(parts.filter(({ head }) => isProviderCall(head)).length, usage),
  }
}

/** The bytes that a model wrote for this part. */
function sizeOf({ head, text, summary }: AnswerPart): number {
  const name = head.type === 'tool_call' ? head.name : ''
  return Buffer.byteLength(name) + Buffer.byteLength(text) + Buffer.byteLength(summary.join(''))
}
