import type { StreamStage } from '../../../canonical/upstream.ts'
import type { FinishReason } from '../../../canonical/text/events.ts'
import { isRecord } from '../../../json/values.ts'
import { toFinishReason } from '../finish-reason.ts'
import { noArguments } from '../tools/tool-input.ts'
import type { ChoiceState } from './pass-chunk.ts'

/**
 * How far the end of a chat stream is. `counted`: the provider has told its usage, and no choice has ended. `finishing`:
 * some choices have ended, others go on. `finished`: all that began have ended. `accounted`: usage came by itself behind
 * that. `given_up`: the terminator came although nothing had been counted or had ended. `terminated`: it came where it
 * may, and every choice that has no end is over.
 */
type EndState = 'running' | 'counted' | 'finishing' | 'finished' | 'accounted' | 'given_up' | 'terminated'

/** What is read of a stream and moves its end. `chunk`: anything that is no usage by itself. */
type Signal = 'begin' | 'finish' | 'usage' | 'usage_alone' | 'chunk' | 'terminator'

/** The same, with whether the end was the last that was awaited. */
type Step = Exclude<Signal, 'finish'> | 'finish_one' | 'finish_last'

/** Steps that are not in the table change nothing. */
const steps: Readonly<Record<EndState, Partial<Record<Step, EndState>>>> = {
  running: {
    usage: 'counted',
    finish_one: 'finishing',
    finish_last: 'finished',
    terminator: 'given_up',
  },
  counted: { finish_one: 'finishing', finish_last: 'finished', terminator: 'terminated' },
  finishing: { finish_last: 'finished', terminator: 'terminated' },
  finished: { begin: 'finishing', usage_alone: 'accounted', terminator: 'terminated' },
  accounted: { begin: 'finishing', chunk: 'finished', terminator: 'terminated' },
  // Some hosts send the terminator too early.
  given_up: { usage: 'terminated', finish_one: 'terminated', finish_last: 'terminated' },
  terminated: {},
}

const stages: Readonly<Partial<Record<EndState, StreamStage>>> = {
  accounted: 'accounted',
  given_up: 'terminated',
  terminated: 'terminated',
}

const noReason = 'the body ended before a finish reason'

/** Why a body may not end here. A stream that is terminated has ended every choice that began. */
const breaks: Readonly<Partial<Record<EndState, string>>> = {
  running: noReason,
  counted: noReason,
  given_up: noReason,
  finishing: 'the body ended before every choice had a finish reason',
}

/** The end of a chat stream: one state, moved by what is read. */
export class ChatEnd {
  #state: EndState = 'running'
  /** Choices that began and have not ended. */
  #open = 0
  #finished = 0

  /** How many choices have ended. */
  get finished(): number {
    return this.#finished
  }

  get state(): EndState {
    return this.#state
  }

  get stage(): StreamStage {
    return stages[this.#state] ?? 'running'
  }

  /** Whether every choice that began has ended, and one has. */
  get isWhole(): boolean {
    return this.#finished > 0 && this.#open === 0
  }

  tell(signal: Signal): void {
    this.#state = steps[this.#state][this.#stepOf(signal)] ?? this.#state
  }

  /** Why the stream is broken when its body ends now, for the log; null when it is whole. */
  whyBroken(): string | null {
    if (this.#state === 'terminated' && this.#finished === 0) return noReason
    return breaks[this.#state] ?? null
  }

  #stepOf(signal: Signal): Step {
    if (signal === 'begin') this.#open += 1
    if (signal !== 'finish') return signal
    this.#open -= 1
    this.#finished += 1
    return this.#open === 0 ? 'finish_last' : 'finish_one'
  }
}

type Chunk = Record<string, unknown>

/**
 * Chunks that were kept back from the first finish reason on, the last with these members. Usage stands beside the last
 * finish reason: in a chunk of its own it would come with no choice, which many clients do not look for; or with one whose
 * reason takes the place of the real one (null) or is joined to it (the same).
 */
export function endingChunks(kept: readonly Chunk[], identity: Chunk, last: Chunk): readonly Chunk[] {
  const chunk = kept.at(-1) ?? { ...identity, choices: [{ index: 0, delta: {}, finish_reason: null }] }
  return [...kept.slice(0, -1), { ...chunk, ...last }]
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
