import type { Answer } from '../../../canonical/text/answer.ts'
import type { TextEvent } from '../../../canonical/text/events.ts'
import type { AnswerContext } from '../../../canonical/upstream.ts'
import type { StreamWriter } from '../halves.ts'
import type { TextQuirks } from '../codec.ts'
import { isRecord } from '../../../json/values.ts'

/** Whether the answer is to be written without what the model thought. */
export function hidesThoughts({ hiddenThoughts }: AnswerContext, { format }: TextQuirks): boolean {
  // Thoughts of chat completions are words alone; other formats are asked for thoughts without words.
  return hiddenThoughts === 'all' || (hiddenThoughts === 'words' && format === 'chat')
}

/** The answer without its thoughts. It was metered with them. */
export function withoutThoughts(answer: Answer): Answer {
  const choices = answer.choices.map((choice) => ({
    ...choice,
    parts: choice.parts.filter(({ head }) => head.type !== 'reasoning'),
  }))
  return { ...answer, choices }
}

/** The same of a stream: a writer that is not told of thoughts, and counts the other parts as if there were none. */
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
  /** By choice the number of every part among those that are shown; null for a thought. */
  readonly #shown = new Map<number, (number | null)[]>()
  readonly #next = new Map<number, number>()

  /** Null for what is not shown. */
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

/** The members by which callers of every format ask not to be shown thoughts. */
export interface HidingFields {
  reasoning?: { exclude?: boolean | null } | null
  include_reasoning?: boolean | null
}

/** What such members say, for the call. */
export function readHiding({ reasoning, include_reasoning: isIncluded }: HidingFields): {
  hiddenThoughts?: 'all'
} {
  return reasoning?.exclude === true || isIncluded === false ? { hiddenThoughts: 'all' } : {}
}

/** Whether a `reasoning` object says no more than that: it is no wish for any thought. */
export function isOnlyHiding(reasoning: unknown): boolean {
  if (!isRecord(reasoning) || reasoning['exclude'] !== true) return false
  return Object.entries(reasoning).every(
    ([name, value]) => name === 'exclude' || value === null || value === undefined,
  )
}
