import type { Answer } from '../../../canonical/text/answer.ts'
import type { TextEvent } from '../../../canonical/text/events.ts'
import type { AnswerContext } from '../../../canonical/upstream.ts'
import type { StreamWriter } from '../halves.ts'
import type { TextQuirks } from '../codec.ts'
import { isRecord } from '../../../json/values.ts'

/** Whether the answer must be written without the model's thoughts. */
export function hidesThoughts({ hiddenThoughts }: AnswerContext, { format }: TextQuirks): boolean {
  // Thoughts of chat completions are only text; other formats ask the provider to omit the text.
  return hiddenThoughts === 'all' || (hiddenThoughts === 'words' && format === 'chat')
}

/** The answer without its thoughts. The meter has counted them already. */
export function withoutThoughts(answer: Answer): Answer {
  const choices = answer.choices.map((choice) => ({
    ...choice,
    parts: choice.parts.filter(({ head }) => head.type !== 'reasoning'),
  }))
  return { ...answer, choices }
}

/** The same for a stream: the writer gets no events of thoughts, and the other parts are renumbered. */
export function writerWithoutThoughts(writer: StreamWriter): StreamWriter {
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
