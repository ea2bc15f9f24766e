import type { Told, ToldCall } from './told.ts'
import { countAt, listAt, objectAt, textAt, type Wire } from './wire.ts'

/** What an answer in Gemini's format says, whole or in the objects of its stream, which follow each other. */
export function toldByGemini(objects: readonly Wire[]): Told {
  const candidates = objects.flatMap((object) => listAt(object, 'candidates'))
  const parts = candidates.flatMap((candidate) => listAt(objectAt(candidate, 'content'), 'parts'))
  const textsOf = (isThought: boolean) =>
    parts.filter((part) => (part['thought'] === true) === isThought).map((part) => textAt(part, 'text'))
  return {
    text: textsOf(false).join(''),
    thoughts: textsOf(true).join(''),
    signatures: parts.flatMap((part) => textAt(part, 'thoughtSignature') || []),
    calls: callsOf(parts.flatMap((part) => ('functionCall' in part ? [objectAt(part, 'functionCall')] : []))),
    citations: [],
    usage: usageOf(objects),
    stop:
      candidates.map((candidate) => textAt(candidate, 'finishReason')).find((word) => word !== '') ?? null,
  }
}

/** A call with a name begins another one; one without tells more of it. */
function callsOf(wires: readonly Wire[]): ToldCall[] {
  const calls: (ToldCall & { arguments: Record<string, unknown> })[] = []
  for (const wire of wires) {
    const name = textAt(wire, 'name')
    if (name !== '') calls.push({ id: textAt(wire, 'id'), name, arguments: { ...objectAt(wire, 'args') } })
    for (const piece of listAt(wire, 'partialArgs')) put(calls.at(-1)?.arguments ?? {}, piece)
  }
  return calls
}

function put(target: Record<string, unknown>, piece: Wire): void {
  const steps = textAt(piece, 'jsonPath').match(/[^$.[\]]+/g) ?? []
  const last = steps.pop() ?? ''
  let inside = target
  for (const [at, step] of steps.entries()) {
    const isList = /^\d+$/.test(steps[at + 1] ?? last)
    inside = (inside[step] ??= isList ? [] : {}) as Record<string, unknown>
  }
  const before = inside[last]
  const text = piece['stringValue']
  inside[last] =
    typeof text === 'string'
      ? `${typeof before === 'string' ? before : ''}${text}`
      : (piece['numberValue'] ?? piece['boolValue'] ?? null)
}

/** The last counts are those of the whole answer. Thoughts stand beside what was said. */
function usageOf(objects: readonly Wire[]): Told['usage'] {
  const counted = objects
    .map((object) => objectAt(object, 'usageMetadata'))
    .findLast((usage) => typeof usage['promptTokenCount'] === 'number')
  if (counted === undefined) return null
  const reasoning = countAt(counted, 'thoughtsTokenCount')
  return {
    input: countAt(counted, 'promptTokenCount') + countAt(counted, 'toolUsePromptTokenCount'),
    cached: countAt(counted, 'cachedContentTokenCount'),
    written: 0,
    output: countAt(counted, 'candidatesTokenCount') + reasoning,
    reasoning,
  }
}
