import type { AnswerContext } from '../../../canonical/upstream.ts'
import { streamToolCallsMax } from '../../../core/limits/text.ts'
import { unreadable } from '../../upstream-json.ts'
import { toArguments } from '../tools/tool-input.ts'
import { hasCalls, normalizeMessage, toLogprobs, upstreamOnlyMembers } from './choice.ts'
import { isRecord, tokenCountOrNull } from '../../../json/values.ts'
import type { TextSlot } from '../streams/frame-template.ts'
import { type CallMark, missingCallId, ToolIndexes } from '../tools/tool-indexes.ts'

/**
 * A provider's chunk with the gateway's identity and without members that only concern the operator; its choices are
 * the given ones.
 */
export function toShownChunk(
  wire: Readonly<Record<string, unknown>>,
  context: AnswerContext,
): Record<string, unknown> {
  const chunk: Record<string, unknown> = {
    ...wire,
    id: context.generationId,
    object: 'chat.completion.chunk',
    created: context.created,
    model: context.model,
    provider: context.provider,
  }
  delete chunk['usage']
  for (const name of upstreamOnlyMembers) delete chunk[name]
  // The official client accepts a string or an absent member here, and refuses null.
  if (typeof chunk['system_fingerprint'] !== 'string') delete chunk['system_fingerprint']
  return chunk
}

/** Members that the gateway writes itself, and padding, which only fits the frame that it pads. */
const ownMembers: ReadonlySet<string> = new Set<string>(
  [
    'id',
    'object',
    'created',
    'model',
    'provider',
    'choices',
    'usage',
    'system_fingerprint',
    'obfuscation',
  ].concat(upstreamOnlyMembers),
)

/**
 * The members of a frame without choices, other than usage (a filter's findings in the prompt, for example), added to
 * those of earlier frames; null when there are none. They are shown with the next frame that has a choice, because many
 * clients read `choices[0]` of every chunk unchecked.
 */
export function membersBeside(
  wire: Readonly<Record<string, unknown>>,
  earlier: Readonly<Record<string, unknown>> | null,
): Record<string, unknown> | null {
  let found: Record<string, unknown> | null = null
  for (const name in wire) {
    const value = wire[name]
    if (value === null || ownMembers.has(name)) continue
    found ??= { ...earlier }
    found[name] = value
  }
  return found ?? earlier
}

/** The state of one choice of a stream. */
export class ChoiceState {
  readonly toolIndexes = new ToolIndexes()
  /** The name that each call began with, by its shown index. */
  readonly toolNames = new Map<number, string>()
  /** The shown indexes of calls that have received arguments. */
  readonly withArguments = new Set<number>()
  /** Makes the ids of its calls unique when the provider sends none. */
  readonly idSuffix: string
  hasBegun = false
  sawRole = false
  sawToolCalls = false
  /** The last chunk that was kept back of this choice; it has the finish reason. Null until the choice has ended. */
  ending: Record<string, unknown> | null = null

  constructor(idSuffix: string) {
    this.idSuffix = idSuffix
  }

  get isFinished(): boolean {
    return this.ending !== null
  }
}

/** One choice of one chunk, and whether it begins a message or a call. */
export interface ShownChoice {
  choice: Record<string, unknown>
  delta: Record<string, unknown>
  beganMessage: boolean
  beganToolCall: boolean
}

/** A whole message as the only delta of its choice; its calls are told apart by position. */
export function wholeDelta(message: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { tool_calls: calls } = message
  if (!Array.isArray(calls)) return message
  return {
    ...message,
    tool_calls: calls.map((call: unknown, index) => (isRecord(call) ? { ...call, index } : call)),
  }
}

/**
 * A streamed choice in the contract's form; the caller of this function sets the finish reason. Does not change `wire`.
 * Some hosts answer a stream with a whole answer, so a choice may begin with a message instead of a delta.
 */
export function toShownChoice(
  wire: Readonly<Record<string, unknown>>,
  index: number,
  state: ChoiceState,
): ShownChoice {
  const { message } = wire
  const isFirst = !state.hasBegun
  const isWhole = isFirst && isRecord(message) && !isRecord(wire['delta'])
  state.hasBegun = true
  const given = isWhole ? wholeDelta(message) : wire['delta']
  const delta: Record<string, unknown> = isRecord(given) ? { ...given } : {}
  normalizeMessage(delta)
  // llama.cpp leaves it out when its first token is a part of a character (seen at its server, 2026-11-28); the official
  // client's helpers fail without it.
  if (isFirst) delta['role'] ??= 'assistant'
  const beganMessage = delta['role'] !== undefined && !state.sawRole
  // Clients that concatenate the strings of all deltas would read a repeated role as `assistantassistant`.
  if (!beganMessage) delete delta['role']
  state.sawRole ||= beganMessage
  let beganToolCall = false
  const calls = delta['tool_calls']
  state.sawToolCalls ||= hasCalls(delta)
  if (Array.isArray(calls) && calls.length > streamToolCallsMax) throw unreadable('too many tool calls')
  if (Array.isArray(calls) && calls.length > 0) {
    const inFrame = new Set<number>()
    const shown = calls.map((call: unknown) => (isRecord(call) ? toShownCall(call, state, inFrame) : call))
    beganToolCall = shown.some(isBeginning)
    delta['tool_calls'] = shown
  } else {
    delete delta['tool_calls']
  }
  const choice: Record<string, unknown> = { ...wire, index, delta, finish_reason: null }
  if (isWhole) delete choice['message']
  if (isRecord(wire['logprobs'])) choice['logprobs'] = toLogprobs(wire['logprobs'])
  return { choice, delta, beganMessage, beganToolCall }
}

/**
 * One piece of a tool call. Several hosts repeat the id and the name in every piece, and clients that concatenate all
 * deltas would read a tool `weatherweather`, so each is shown once. A call that begins without an id, or with the id of
 * another call, gets a new one.
 */
function toShownCall(
  wire: Readonly<Record<string, unknown>>,
  state: ChoiceState,
  inFrame: Set<number>,
): Record<string, unknown> {
  const name = nameOf(wire)
  const given = isText(wire['id']) ? wire['id'] : null
  const mark = { id: given, upstreamIndex: tokenCountOrNull(wire['index']), isNamed: name !== null }
  const { toolIndexes } = state
  const continued = toolIndexes.continuedAt(mark)
  const isNew =
    continued === null
      ? name !== null || given !== null
      : name !== null && isAnotherCall(name, continued, { mark, state, inFrame })
  const isMade = isNew && (given === null || toolIndexes.isTaken(given))
  const id = isMade ? missingCallId(state.idSuffix, toolIndexes.size) : given
  const index = isNew ? toolIndexes.begin(mark) : toolIndexes.continue(continued, mark.upstreamIndex)
  inFrame.add(index)
  const call: Record<string, unknown> = { ...wire, index }
  if (isNew) call['id'] = id
  else delete call['id']
  if ((!isNew && given !== null) || !isText(call['type'])) delete call['type']
  if (isMade) call['type'] ??= isRecord(wire['custom']) ? 'custom' : 'function'
  const called = wire['function']
  if (isRecord(called)) call['function'] = toShownFunction(called, index, state)
  else if (isRecord(wire['custom'])) delete call['function']
  // Clients read `function` without checking that it exists.
  else call['function'] = {}
  return call
}

/** The name of the tool that a piece of a call names. */
function nameOf({ function: called, custom }: Readonly<Record<string, unknown>>): string | null {
  const named = isRecord(called) ? called : custom
  return isRecord(named) && isText(named['name']) ? named['name'] : null
}

/**
 * Whether a piece that names a tool begins a new call although it has the marks of an earlier one: that call is in the
 * same frame, so only the position tells them apart, or it has arguments already and another name.
 */
function isAnotherCall(
  name: string,
  continued: number,
  {
    mark,
    state: { toolNames, withArguments },
    inFrame,
  }: { mark: CallMark; state: ChoiceState; inFrame: ReadonlySet<number> },
): boolean {
  if (inFrame.has(continued) && (mark.id === null || mark.upstreamIndex === null)) return true
  return withArguments.has(continued) && name !== (toolNames.get(continued) ?? name)
}

function toShownFunction(
  wire: Readonly<Record<string, unknown>>,
  index: number,
  { toolNames, withArguments }: ChoiceState,
): Record<string, unknown> {
  const shown: Record<string, unknown> = { ...wire }
  const { name } = wire
  if (name === null || (isText(name) && name === toolNames.get(index))) delete shown['name']
  else if (isText(name) && !toolNames.has(index)) toolNames.set(index, name)
  if (shown['arguments'] !== undefined) shown['arguments'] = toArguments(shown['arguments'])
  if (isText(shown['arguments'])) withArguments.add(index)
  return shown
}

/** Whether a shown piece has an id or a name, which a call shows only once. */
function isBeginning(call: unknown): boolean {
  if (!isRecord(call)) return false
  const called = call['function']
  return isText(call['id']) || (isRecord(called) && isText(called['name']))
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/**
 * Where the text of a chunk's only choice lies, when it is plain text of a kind that goes on for many frames; otherwise
 * null.
 */
export function findTextSlot(
  wireDelta: Readonly<Record<string, unknown>>,
  delta: Record<string, unknown>,
): TextSlot | null {
  for (const name of ['content', 'reasoning', 'reasoning_content'] as const) {
    const value = wireDelta[name]
    const shownName = name === 'reasoning_content' ? 'reasoning' : name
    if (typeof value !== 'string' || value === '' || delta[shownName] !== value) continue
    return { name, value, put: (text) => (delta[shownName] = text) }
  }
  const calls = delta['tool_calls']
  const call: unknown = Array.isArray(calls) && calls.length === 1 ? calls[0] : null
  const called = isRecord(call) && call['id'] === undefined ? call['function'] : null
  if (!isRecord(called) || typeof called['arguments'] !== 'string' || called['arguments'] === '') return null
  const value = called['arguments']
  return { name: 'arguments', value, put: (text) => (called['arguments'] = text) }
}
