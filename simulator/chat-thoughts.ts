import type { Answer } from './answer.ts'
import type { Faults } from './faults.ts'
import type { JsonObject } from './json.ts'

/** Whether a host of chat completions shows the model's thoughts; OpenAI does not. */
export function showsThoughts({ reasoningField, thinkingParts }: Faults): boolean {
  return reasoningField !== undefined || thinkingParts === true
}

/** A piece of thought as the delta of a chunk: in a member of its own, or as a part of the content, as Mistral sends it. */
export function thoughtOf(text: string, { reasoningField, thinkingParts }: Faults): JsonObject {
  if (thinkingParts === true) return { content: [thinkingPart(text)] }
  return reasoningField === undefined ? {} : { [reasoningField]: text }
}

/** The content of a whole message, with its thoughts when they are parts of the content. */
export function contentOf(
  { thoughts, pieces }: Pick<Answer, 'thoughts' | 'pieces'>,
  { thinkingParts }: Faults,
): unknown {
  const text = pieces?.join('') ?? null
  if (thinkingParts !== true) return text
  return [thinkingPart(thoughts), ...(text === null ? [] : [{ type: 'text', text }])]
}

function thinkingPart(text: string): JsonObject {
  return { type: 'thinking', thinking: [{ type: 'text', text }] }
}
