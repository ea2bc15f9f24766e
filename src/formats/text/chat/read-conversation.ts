import type { TextCall } from '../../../canonical/call.ts'
import type { TextFormat } from '../../../canonical/operation.ts'
import type {
  Conversation,
  OutputFormat,
  ProviderTool,
  ReasoningWish,
  Tool,
  ToolChoice,
} from '../../../canonical/text/conversation.ts'
import { fieldError, type GatewayError } from '../../../core/errors.ts'
import { readCacheMark } from '../cache-mark.ts'
import { ConversationReading, extrasOf, readEffort } from '../conversation-reading.ts'
import { unknownMembers } from '../member-names.ts'
import { booleanOrNull, isRecord, numberOrNull, recordOrNull, textOrNull } from '../../../json/values.ts'
import { chatRequestShape } from './request-schema.ts'
import { readTurns } from './read-turns.ts'

type Wire = Readonly<Record<string, unknown>>

/** A chat request as a conversation, in which the formats meet. The decoder has checked its members. */
export function* readChatConversation(
  call: TextCall,
  upstreamFormat: TextFormat,
): Generator<void, Conversation> {
  const { document } = call
  const reading = new ConversationReading(document, upstreamFormat === 'chat')
  const value = (name: string) => reading.value(name)
  const number = (name: string) => reading.number(name)
  const cache = readCacheMark(value('cache_control'))
  const needed = neededMembers.filter((name) => reading.has(name) && !isTextOnly(name, value(name)))
  const optional = [
    ...optionalMembers.filter((name) => reading.has(name)),
    ...unknownMembers(document, chatRequestShape),
  ]
  const messages = value('messages')
  yield
  const turns = yield* readTurns(messages, reading)
  const tools = readTools(value('tools'), value('functions'), reading)
  return {
    format: 'chat',
    turns,
    tools,
    toolChoice:
      readToolChoice(value('tool_choice'), 'tool_choice') ??
      readToolChoice(value('function_call'), 'function_call'),
    isParallel: booleanOrNull(value('parallel_tool_calls')),
    outputTokensMax: call.demand.outputTokensMax,
    choices: call.demand.choices,
    stop: readStop(value('stop')),
    output: readOutput(value('response_format')),
    reasoning: readReasoningWish(
      value('reasoning'),
      value('reasoning_effort'),
      booleanOrNull(value('include_reasoning')),
      { reading, isShown: call.hiddenThoughts === undefined },
    ),
    logprobs: value('logprobs') === true ? (number('top_logprobs') ?? 0) : null,
    tuning: {
      temperature: number('temperature'),
      topP: number('top_p'),
      topK: number('top_k'),
      minP: number('min_p'),
      seed: number('seed'),
      presencePenalty: number('presence_penalty'),
      frequencyPenalty: number('frequency_penalty'),
      repetitionPenalty: number('repetition_penalty'),
      logitBias: recordOrNull(value('logit_bias')) as Readonly<Record<string, number>> | null,
      verbosity: readVerbosity(value('verbosity'), reading),
      serviceTier: textOrNull(value('service_tier')),
      cacheKey: textOrNull(value('prompt_cache_key')),
    },
    userId: call.userId,
    metadata: recordOrNull(value('metadata')) as Readonly<Record<string, string>> | null,
    ...(cache === null ? {} : { cache }),
    stream: call.stream,
    ownMembers: { needed, optional: [...optional, ...reading.own] },
    ...extrasOf('chat', membersOf(reading, [...neededMembers, ...optional, ...ownWords, 'stream_options'])),
  }
}

/** Null when the provider's format has none of them; they are read all the same, because one that is not JSON is refused. */
function membersOf(reading: ConversationReading, names: readonly string[]): Wire | null {
  const members = Object.fromEntries(
    names.filter((name) => reading.has(name)).map((name) => [name, reading.value(name)]),
  )
  return reading.keepsOwn ? members : null
}

/**
 * Members that only chat has: those for spoken, searched or checked answers, which a provider must have, and members
 * that some hosts also know.
 */
const neededMembers = ['modalities', 'audio', 'web_search_options', 'image_config', 'moderation'] as const
const optionalMembers = [
  'prediction',
  'store',
  'safety_identifier',
  'prompt_cache_options',
  'prompt_cache_retention',
  'top_a',
] as const

/** Hosts of this format get these members in the caller's own spelling; other formats may not have the same values. */
const ownWords = ['reasoning', 'reasoning_effort', 'verbosity'] as const

function isTextOnly(name: string, value: unknown): boolean {
  return name === 'modalities' && Array.isArray(value) && value.every((modality) => modality === 'text')
}

function readStop(wire: unknown): readonly string[] {
  if (typeof wire === 'string') return [wire]
  return Array.isArray(wire) ? wire.filter((text) => typeof text === 'string') : []
}

function readTools(
  tools: unknown,
  functions: unknown,
  reading: ConversationReading,
): (Tool | ProviderTool)[] {
  const read = Array.isArray(tools) ? tools.filter(isRecord).map((tool) => readTool(tool, reading)) : []
  const older = Array.isArray(functions)
    ? functions.filter(isRecord).map((tool) => readFunction(tool, reading, 'functions[]'))
    : []
  return [...read, ...older]
}

const toolMembers: ReadonlySet<string> = new Set(['type', 'function', 'custom', 'cache_control'])

/** A tool with another type is one that the provider knows or runs itself. */
function readTool(wire: Wire, reading: ConversationReading): Tool | ProviderTool {
  const { function: called, custom } = wire
  if (!isRecord(called) && !isRecord(custom)) return { kind: 'provider', format: 'chat', value: wire }
  const cache = readCacheMark(wire['cache_control'])
  const rest = reading.rest(wire, toolMembers, 'tools[]')
  if (isRecord(called))
    return {
      ...readFunction(called, reading),
      ...(cache === null ? {} : { cache }),
      ...extrasOf('chat', rest),
    }
  const described = recordOrNull(custom)
  if (described !== null) reading.rest(described, customMembers, 'tools[].custom')
  return {
    kind: 'custom',
    name: textOrNull(described?.['name']) ?? '',
    description: textOrNull(described?.['description']),
    parameters: null,
    strict: null,
    ...(cache === null ? {} : { cache }),
    format: recordOrNull(described?.['format']),
    ...extrasOf('chat', rest),
  }
}

const functionMembers: ReadonlySet<string> = new Set(['name', 'description', 'parameters', 'strict'])
const customMembers: ReadonlySet<string> = new Set(['name', 'description', 'format'])

function readFunction(wire: Wire, reading: ConversationReading, path = 'tools[].function'): Tool {
  reading.rest(wire, functionMembers, path)
  return {
    kind: 'function',
    name: textOrNull(wire['name']) ?? '',
    description: textOrNull(wire['description']),
    parameters: recordOrNull(wire['parameters']),
    strict: booleanOrNull(wire['strict']),
  }
}

function readToolChoice(wire: unknown, member: string): ToolChoice | null {
  if (wire === null) return null
  if (wire === 'any') return { kind: 'required' }
  if (wire === 'auto' || wire === 'required' || wire === 'none') return { kind: wire }
  if (!isRecord(wire)) throw unknownChoice(member)
  const { function: called, custom, allowed_tools: allowed } = wire
  if (isRecord(allowed)) return readAllowed(allowed)
  if (isRecord(custom)) return { kind: 'named', name: textOrNull(custom['name']) ?? '', tool: 'custom' }
  const name = isRecord(called) ? called['name'] : wire['name']
  if (typeof name !== 'string') throw unknownChoice(member)
  return { kind: 'named', name, tool: 'function' }
}

function unknownChoice(member: string): GatewayError {
  return fieldError(
    member,
    'must be auto, required, none or name a tool with the chosen provider. Correct it or choose another model.',
  )
}

function readAllowed(wire: Wire): ToolChoice {
  const tools = Array.isArray(wire['tools']) ? wire['tools'].filter(isRecord) : []
  const names = tools.map((tool) => {
    const named = tool['function'] ?? tool['custom'] ?? tool
    return (isRecord(named) ? textOrNull(named['name']) : null) ?? ''
  })
  return { kind: 'allowed', mode: wire['mode'] === 'required' ? 'required' : 'auto', names }
}

function readOutput(wire: unknown): OutputFormat {
  if (!isRecord(wire) || wire['type'] === 'text') return { kind: 'text' }
  if (wire['type'] === 'json_object') return { kind: 'json' }
  const schema = wire['json_schema']
  if (wire['type'] === 'json_schema' && isRecord(schema)) {
    return {
      kind: 'schema',
      name: textOrNull(schema['name']) ?? 'answer',
      description: textOrNull(schema['description']),
      schema: recordOrNull(schema['schema']),
      strict: booleanOrNull(schema['strict']),
    }
  }
  throw fieldError(
    'response_format.type',
    'must be text, json_object or json_schema with the chosen provider. Correct it or choose another model.',
  )
}

const reasoningMembers: ReadonlySet<string> = new Set([
  'effort',
  'max_tokens',
  'summary',
  'enabled',
  'exclude',
])

function readReasoningWish(
  wire: unknown,
  olderEffort: unknown,
  isIncluded: boolean | null,
  { reading, isShown }: { reading: ConversationReading; isShown: boolean },
): ReasoningWish | null {
  const wish = recordOrNull(wire)
  const own = wish?.['effort'] ?? null
  const isOff = wish?.['enabled'] === false
  const effort = isOff ? 'none' : (own ?? olderEffort)
  if (wish !== null) reading.rest(wish, reasoningMembers, 'reasoning')
  if (wish === null && effort === null && isIncluded === null) return null
  const budgetTokens = numberOrNull(wish?.['max_tokens'])
  // Hiding thoughts is no request to think.
  if (!isShown && effort === null && budgetTokens === null && wish?.['enabled'] !== true) return null
  if (isOff && own !== null && own !== 'none') reading.own.add('reasoning.effort')
  if (olderEffort !== null && olderEffort !== effort) reading.own.add('reasoning_effort')
  return {
    effort: readEffort(effort, own === null ? 'reasoning_effort' : 'reasoning.effort', reading),
    budgetTokens,
    summary: textOrNull(wish?.['summary']),
    isShown,
  }
}

/** A value that other formats do not have is left out and listed. */
function readVerbosity(wire: unknown, reading: ConversationReading): 'low' | 'medium' | 'high' | null {
  if (wire === 'low' || wire === 'medium' || wire === 'high') return wire
  if (wire !== null) reading.own.add('verbosity')
  return null
}
