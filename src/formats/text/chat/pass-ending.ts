import { streamHeldBytesMax, streamHeldFramesMax } from '../../../core/limits/text.ts'
import { noArguments } from '../tool-arguments.ts'
import type { ChoiceState } from './pass-chunk.ts'
import type { FinishReason } from '../../../canonical/text/events.ts'
import { toFinishReason } from '../finish-reason.ts'
import { isRecord } from '../../../json/values.ts'

type Chunk = Record<string, unknown>

/**
 * What is kept back of a stream from its first finish reason on. Chunks stay values until the end, because only then it
 * is known which of them is the last of its choice.
 */
export class StreamEnding {
  readonly #chunks: Chunk[] = []
  #bytes = 0

  /** Keeps a chunk back; `bytes` is its size as it came. Throws a RangeError when there is too much. */
  keepBack(chunk: Chunk, bytes: number): void {
    this.#bytes += bytes
    this.#chunks.push(chunk)
    if (this.#bytes > streamHeldBytesMax || this.#chunks.length > streamHeldFramesMax)
      throw new RangeError('too much followed a finish reason')
  }

  /**
   * The chunks, the last with these members. Usage stands beside the last finish reason: in a chunk of its own it would
   * come with no choice, which many clients do not look for; or with one whose reason takes the place of the real one
   * (null) or is joined to it (the same).
   */
  chunks(identity: Chunk, last: Chunk): readonly Chunk[] {
    const chunk = this.#chunks.at(-1) ?? {
      ...identity,
      choices: [{ index: 0, delta: {}, finish_reason: null }],
    }
    return [...this.#chunks.slice(0, -1), { ...chunk, ...last }]
  }
}

/** Makes this the choice's last: the finish reason goes with it. */
export function moveEnding(state: ChoiceState, choice: Chunk): void {
  const { ending } = state
  if (ending !== null) {
    choice['finish_reason'] = ending['finish_reason']
    choice['native_finish_reason'] = ending['native_finish_reason']
    ending['finish_reason'] = null
    delete ending['native_finish_reason']
  }
  state.ending = choice
}

/** The end of a choice that its provider gave none, and yet said that all was said. */
export function endOf(index: number, state: ChoiceState): { choice: Chunk; reason: FinishReason } {
  const reason = toFinishReason(null, state.sawToolCalls)
  const choice = { index, delta: {}, finish_reason: reason, native_finish_reason: null }
  state.ending = choice
  return { choice, reason }
}

/** Calls that never got arguments get empty ones, because clients parse what they have put together. */
export function completeCalls({ toolNames, withArguments, ending }: ChoiceState): void {
  const delta = ending?.['delta']
  if (!isRecord(delta) || withArguments.size === toolNames.size) return
  const pieces: unknown[] = Array.isArray(delta['tool_calls']) ? [...delta['tool_calls']] : []
  const byIndex = new Map(
    pieces
      .filter(isRecord)
      .toReversed()
      .map((piece) => [piece['index'], piece]),
  )
  for (const index of toolNames.keys()) {
    if (withArguments.has(index)) continue
    const known = byIndex.get(index)
    if (isRecord(known) && isRecord(known['function'])) known['function']['arguments'] = noArguments
    else pieces.push({ index, function: { arguments: noArguments } })
  }
  if (pieces.length > 0) delta['tool_calls'] = pieces
}
