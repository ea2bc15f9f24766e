import type { StreamStage } from '../../../canonical/upstream.ts'
import type { FinishReason } from '../../../canonical/text/events.ts'
import { isRecord } from '../../../json/values.ts'
import { toFinishReason } from '../finish-reason.ts'
import { noArguments } from '../tools/tool-input.ts'
import type { ChoiceState } from './pass-stream-chunk.ts'

/**
 * How far the end of a chat stream is.
 * `counted`: the provider has sent its usage, and no choice has ended.
 * `finishing`: some choices have ended, others continue.
 * `finished`: all choices that began have ended.
 * `accounted`: a frame with usage alone came after that.
 * `given_up`: the terminator came before any usage or finish reason.
 * `terminated`: the terminator came at an allowed place; choices without a finish reason are over.
 */
type EndState = 'running' | 'counted' | 'finishing' | 'finished' | 'accounted' | 'given_up' | 'terminated'

/** The events of a stream that move its end. `chunk` is any frame except usage alone. */
type Signal = 'begin' | 'finish' | 'usage' | 'usage_alone' | 'chunk' | 'terminator'

/** The same events, with `finish` split: did the last open choice end, or another? */
type Step = Exclude<Signal, 'finish'> | 'finish_one' | 'finish_last'

/** A step that is missing here leaves the state unchanged. */
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

/** Why a body may not end in this state. A terminated stream has ended every choice that began. */
const breaks: Readonly<Partial<Record<EndState, string>>> = {
  running: noReason,
  counted: noReason,
  given_up: noReason,
  finishing: 'the body ended before every choice had a finish reason',
}

/** Tracks the end of a chat stream. */
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

  /** Whether at least one choice began, and all that began have ended. */
  get isWhole(): boolean {
    return this.#finished > 0 && this.#open === 0
  }

  tell(signal: Signal): void {
    this.#state = steps[this.#state][this.#stepOf(signal)] ?? this.#state
  }

  /** Why the stream is broken if its body ends now, for the log; null when the stream is complete. */
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
 * The chunks that were kept back since the first finish reason, with these members added to the last. Usage goes with
 * the last finish reason. A separate chunk for it would have no choice, which many clients do not expect, or a choice
 * whose finish reason replaces the real one (null) or is appended to it (a repetition).
 */
export function endingChunks(kept: readonly Chunk[], identity: Chunk, last: Chunk): readonly Chunk[] {
  const chunk = kept.at(-1) ?? { ...identity, choices: [{ index: 0, delta: {}, finish_reason: null }] }
  return [...kept.slice(0, -1), { ...chunk, ...last }]
}

/** Makes this chunk the choice's last one and moves the finish reason into it. */
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

/** Ends a choice without a finish reason, when the provider said that the answer is complete. */
export function endOf(index: number, state: ChoiceState): { choice: Chunk; reason: FinishReason } {
  const reason = toFinishReason(null, state.sawToolCalls)
  const choice = { index, delta: {}, finish_reason: reason, native_finish_reason: null }
  state.ending = choice
  return { choice, reason }
}

/** Gives empty arguments to calls that never received any, because clients parse the joined arguments. */
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
