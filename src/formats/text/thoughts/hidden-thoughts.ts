import { addPiece, type Answer, type AnswerPart, emptyPart } from '../../../canonical/text/answer.ts'
import type { PartEndEvent, PartHead, TextEvent } from '../../../canonical/text/events.ts'
import type { AnswerContext } from '../../../canonical/upstream.ts'
import type { StreamWriter } from '../halves.ts'
import type { TextQuirks } from '../codec.ts'
import { isRecord } from '../../../json/values.ts'
import { sealReasoning, sealWords } from './reasoning-envelope.ts'

/** Whether the answer must be written without the model's thoughts, or without their words. */
export function hidesThoughts({ hiddenThoughts }: AnswerContext, { format }: TextQuirks): boolean {
  // Thoughts of chat completions are only text; other formats ask the provider to omit the text.
  return hiddenThoughts === 'all' || (hiddenThoughts === 'words' && format === 'chat')
}

/**
 * The answer as its caller wants to see it, for one that `hidesThoughts`. A thought without its words keeps them inside
 * its seal, so that the caller can give the thought back. The meter has counted the thoughts already.
 */
export function withHiddenThoughts(answer: Answer, { hiddenThoughts }: AnswerContext): Answer {
  const hide = hiddenThoughts === 'all' ? [] : undefined
  const shown = (part: AnswerPart) => (part.head.type === 'reasoning' ? (hide ?? sealPart(part)) : [part])
  return {
    ...answer,
    choices: answer.choices.map((choice) => ({ ...choice, parts: choice.parts.flatMap(shown) })),
  }
}

/** The same for a stream. */
export function writerOfHiddenThoughts(
  writer: StreamWriter,
  { hiddenThoughts }: AnswerContext,
): StreamWriter {
  return hiddenThoughts === 'all' ? writerWithoutThoughts(writer) : writerOfSealedThoughts(writer)
}

/** The head of a thought whose signature is shown as it is: only messages callers hide the words of thoughts. */
const sealedHead: PartHead = { type: 'reasoning', id: null, origin: 'messages' }

/** A thought without words that has them inside its signature. Nothing for a thought without words or a seal. */
function sealPart({ head, text, summary, signature, sealed }: AnswerPart): AnswerPart[] {
  if (head.type !== 'reasoning') return []
  const words = text === '' ? summary.join('\n\n') : text
  const seal =
    sealReasoning({ ...head, signature, sealed }, words) ?? (words === '' ? null : sealWords(words))
  return seal === null ? [] : [{ ...emptyPart(sealedHead), signature: seal }]
}

/** The writer gets a thought when it is complete. Messages have only one choice, so only one thought is open. */
function writerOfSealedThoughts(writer: StreamWriter): StreamWriter {
  let open: AnswerPart | null = null
  const writeSealed = ({ choice, part }: PartEndEvent, thought: AnswerPart) =>
    sealPart(thought)
      .flatMap(({ head, signature }): TextEvent[] => [
        { type: 'part_begin', choice, part, head },
        { type: 'piece', choice, part, piece: { type: 'signature', signature: signature ?? '' } },
        { type: 'part_end', choice, part },
      ])
      .map((event) => writer.write(event))
      .join('')
  return {
    write(event) {
      if (event.type === 'part_begin' && event.head.type === 'reasoning') {
        open = emptyPart(event.head)
        return ''
      }
      if (open === null) return writer.write(event)
      if (event.type === 'piece') addPiece(open, event.piece)
      if (event.type !== 'part_end') return ''
      const thought = open
      open = null
      return writeSealed(event, thought)
    },
    writeEnd: (end) => writer.writeEnd(end),
    writeError: (error) => writer.writeError(error),
  }
}

/** The writer gets no events of thoughts, and the other parts are renumbered. */
function writerWithoutThoughts(writer: StreamWriter): StreamWriter {
  const numbers = new PartNumbers()
  return {
    write(event) {
      const told = numbers.renumber(event)
      return told === null ? '' : writer.write(told)
    },
    writeEnd: (end) => writer.writeEnd(end),
    writeError: (error) => writer.writeError(error),
  }
}

class PartNumbers {
  /** For each choice, the new number of every part; null for a thought. */
  readonly #shown = new Map<number, (number | null)[]>()
  readonly #next = new Map<number, number>()

  /** Null for an event that is not shown. */
  renumber(event: TextEvent): TextEvent | null {
    if (event.type === 'part_begin') this.#begin(event.choice, event.part, event.head.type === 'reasoning')
    if (event.type !== 'part_begin' && event.type !== 'piece' && event.type !== 'part_end') return event
    const part = this.#shown.get(event.choice)?.[event.part] ?? null
    return part === null ? null : { ...event, part }
  }

  #begin(choice: number, part: number, isHidden: boolean): void {
    const shown = this.#shown.get(choice) ?? []
    const next = this.#next.get(choice) ?? 0
    shown[part] = isHidden ? null : next
    this.#shown.set(choice, shown)
    if (!isHidden) this.#next.set(choice, next + 1)
  }
}

/** The members by which callers of every format hide thoughts. */
export interface HidingFields {
  reasoning?: { exclude?: boolean | null } | null
  include_reasoning?: boolean | null
}

/** The meaning of these members for the call. */
export function readHiding({ reasoning, include_reasoning: isIncluded }: HidingFields): {
  hiddenThoughts?: 'all'
} {
  return reasoning?.exclude === true || isIncluded === false ? { hiddenThoughts: 'all' } : {}
}

/** Whether a `reasoning` object only hides thoughts and asks for none. */
export function isOnlyHiding(reasoning: unknown): boolean {
  if (!isRecord(reasoning) || reasoning['exclude'] !== true) return false
  return Object.entries(reasoning).every(
    ([name, value]) => name === 'exclude' || value === null || value === undefined,
  )
}
