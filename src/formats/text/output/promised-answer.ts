import { emptyPart, type Answer, type AnswerChoice, type AnswerPart } from '../../../canonical/text/answer.ts'
import type { PieceEvent, TextEvent } from '../../../canonical/text/events.ts'
import type { PromisedOutput } from '../../../canonical/upstream.ts'
import { CodeFence, withoutFence } from './code-fence.ts'
import type { StreamReader } from '../halves.ts'

/**
 * Gives an answer with a promised form the form that its caller expects: the arguments of the answer tool become its
 * text, and JSON loses its code fence.
 */
export function shapeAnswer(answer: Answer, promised: PromisedOutput | undefined): Answer {
  if (promised === undefined) return answer
  return { ...answer, choices: answer.choices.map((choice) => shapeChoice(choice, promised)) }
}

function shapeChoice({ parts, finish }: AnswerChoice, promised: PromisedOutput): AnswerChoice {
  const shaped = parts.map((part) => (isAnswerTool(part, promised) ? asText(part) : part))
  const hasCalls = shaped.some(({ head }) => head.type === 'tool_call')
  const isToolEnd = finish?.reason === 'tool_calls' && !hasCalls
  const texts = shaped.filter(({ head }) => head.type === 'text')
  const [only] = texts
  const isFenced = texts.length === 1 && only !== undefined
  return {
    parts: isFenced
      ? shaped.map((part) => (part === only ? { ...part, text: withoutFence(part.text) } : part))
      : shaped,
    finish: isToolEnd ? { ...finish, reason: 'stop' } : finish,
  }
}

function isAnswerTool({ head }: Pick<AnswerPart, 'head'>, { tool }: PromisedOutput): boolean {
  return tool !== undefined && head.type === 'tool_call' && head.name === tool
}

function asText({ text }: AnswerPart): AnswerPart {
  return { ...emptyPart({ type: 'text' }), text }
}

/** The same for a stream. */
export function shapeStream(reader: StreamReader, promised: PromisedOutput | undefined): StreamReader {
  if (promised === undefined) return reader
  const shape = new StreamShape(promised)
  return {
    push: (chunk) => reader.push(chunk).flatMap((event) => shape.read(event)),
    end: () => reader.end().flatMap((event) => shape.read(event)),
    get isTerminated() {
      return reader.isTerminated
    },
  }
}

/** The open text of a choice. */
interface OpenText {
  isTool: boolean
  fence: CodeFence
}

class StreamShape {
  readonly #promised: PromisedOutput
  readonly #open = new Map<number, OpenText>()
  /** Choices that called one of the caller's tools. */
  readonly #called = new Set<number>()

  constructor(promised: PromisedOutput) {
    this.#promised = promised
  }

  read(event: TextEvent): TextEvent[] {
    switch (event.type) {
      case 'part_begin': {
        const isTool = isAnswerTool(event, this.#promised)
        this.#open.delete(event.choice)
        if (isTool || event.head.type === 'text')
          this.#open.set(event.choice, { isTool, fence: new CodeFence() })
        else if (event.head.type === 'tool_call') this.#called.add(event.choice)
        return [isTool ? { ...event, head: { type: 'text' } } : event]
      }
      case 'piece':
        return this.#piece(event)
      case 'part_end': {
        const { choice, part } = event
        const rest = this.#open.get(choice)?.fence.end() ?? ''
        this.#open.delete(choice)
        return rest === '' ? [event] : [textOf({ choice, part }, rest), event]
      }
      case 'finish':
        return event.reason === 'tool_calls' && !this.#called.has(event.choice)
          ? [{ ...event, reason: 'stop' }]
          : [event]
      default:
        return [event]
    }
  }

  #piece(event: PieceEvent): TextEvent[] {
    const { choice, part, piece } = event
    const open = this.#open.get(choice)
    const isWords = piece.type === 'text' || (piece.type === 'arguments' && open?.isTool === true)
    if (open === undefined || !isWords) return [event]
    const text = open.fence.push(piece.text)
    return text === '' ? [] : [textOf({ choice, part }, text)]
  }
}

function textOf(place: Pick<PieceEvent, 'choice' | 'part'>, text: string): PieceEvent {
  return { type: 'piece', ...place, piece: { type: 'text', text } }
}
