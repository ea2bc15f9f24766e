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
import { readCacheMark } from '../cache-mark.ts'
import { booleanOrNull, isRecord, numberOrNull, recordOrNull, textOrNull } from '../../../json/values.ts'
import { ConversationReading, extrasOf, readEffort, schemaAt } from '../conversation-reading.ts'
import { fieldError } from '../../../core/errors.ts'
import { unknownMembers } from '../member-names.ts'
import { readInput } from './read-turns.ts'
import { responsesRequestShape } from './request-schema.ts'
import { flatToolName, isNamespace, toolsOf } from './tool-namespaces.ts'

type Wire = Readonly<Record<string, unknown>>

/** A responses request as a conversation, in which the formats meet. The decoder has checked its members. */
export function* readResponsesConversation(
  call: TextCall,
  upstreamFormat: TextFormat,
): Generator<void, Conversation> {
  const { document } = call
  const reading = new ConversationReading(document, upstreamFormat === 'responses')
  const value = (name: string) => reading.value(name)
  const number = (name: string) => reading.number(name)
  const text = recordOrNull(value('text'))
  const include = value('include')
  const included: unknown[] = Array.isArray(include) ? include : []
  const wantsLogprobs = included.includes('message.output_text.logprobs')
  const topLogprobs = number('top_logprobs')
  const cache = readCacheMark(value('cache_control'))
  const [instructions, input] = [value('instructions'), value('input')]
  yield
  const turns = yield* readInput(instructions, input, reading)
  const tools = readTools(value('tools'), reading)
  return {
    format: 'responses',
    turns,
    tools,
    toolChoice: readToolChoice(value('tool_choice')),
    isParallel: booleanOrNull(value('parallel_tool_calls')),
    outputTokensMax: call.demand.outputTokensMax,
    choices: 1,
    stop: [],
    output: readOutput(text?.['format']),
    reasoning: readReasoningWish(
      recordOrNull(value('reasoning')),
      reading,
      call.hiddenThoughts === undefined,
    ),
    logprobs: wantsLogprobs || (topLogprobs ?? 0) > 0 ? (topLogprobs ?? 0) : null,
    tuning: {
      temperature: number('temperature'),
      topP: number('top_p'),
      topK: number('top_k'),
      minP: null,
      seed: null,
      presencePenalty: number('presence_penalty'),
      frequencyPenalty: number('frequency_penalty'),
      repetitionPenalty: null,
      logitBias: null,
      verbosity: readVerbosity(text?.['verbosity'], reading),
      serviceTier: textOrNull(value('service_tier')),
      cacheKey: textOrNull(value('prompt_cache_key')),
    },
    userId: call.userId,
    metadata: null,
    ...(cache === null ? {} : { cache }),
    stream: call.stream,
    ownMembers: {
      needed: [
        ...(value('truncation') === 'auto' ? ['truncation'] : []),
        ...neededMembers.filter((name) => reading.has(name) && !isTextOnly(value(name))),
      ],
      optional: [
        ...optionalMembers.filter((name) => reading.has(name)),
        ...(included.every((name) => alwaysIncluded.has(name)) ? [] : ['include']),
        ...unknownMembers(document, responsesRequestShape).filter((name) => !isNamed(name)),
        ...reading.own,
      ],
    },
  }
}

/** Members that ask for another kind of answer than text, or for a checked one. */
const neededMembers = ['modalities', 'image_config', 'moderation'] as const

function isTextOnly(modalities: unknown): boolean {
  return Array.isArray(modalities) && modalities.every((modality) => modality === 'text')
}

const optionalMembers = [
  'max_tool_calls',
  'safety_identifier',
  'prompt_cache_retention',
  'prompt_cache_options',
] as const

/** Values that a provider sends whenever it has them, asked or not. */
const alwaysIncluded: ReadonlySet<unknown> = new Set([
  'message.output_text.logprobs',
  'reasoning.encrypted_content',
])

/** Members that the schema lacks but this file handles. */
function isNamed(name: string): boolean {
  return optionalMembers.some((named) => named === name)
}

function readTools(wire: unknown, reading: ConversationReading): (Tool | ProviderTool)[] {
  if (!Array.isArray(wire)) return []
  return wire
    .filter(isRecord)
    .flatMap((tool) => (isNamespace(tool) ? readNamespace(tool, reading) : [readTool(tool, reading)]))
}

/** A tool that the provider runs has its own type. */
function readTool(tool: Wire, reading: ConversationReading): Tool | ProviderTool {
  const { type } = tool
  if (type !== 'function' && type !== 'custom') return { kind: 'provider', format: 'responses', value: tool }
  const extras = extrasOf('responses', reading.rest(tool, toolMembers, 'tools[]'))
  return { ...(type === 'function' ? readFunction(tool) : readCustom(tool)), ...extras }
}

/** The tools of a namespace. Each has the namespace in its name, and the namespace's description before its own. */
function readNamespace(wire: Wire & { name: string }, reading: ConversationReading): (Tool | ProviderTool)[] {
  return toolsOf(wire).map((inner) => {
    const tool = readTool(inner, reading)
    if (tool.kind === 'provider') return tool
    const descriptions = [textOrNull(wire['description']), tool.description].filter((text) => text !== null)
    return {
      ...tool,
      name: flatToolName({ namespace: wire.name, name: tool.name }),
      description: descriptions.length === 0 ? null : descriptions.join('\n\n'),
    }
  })
}

const toolMembers: ReadonlySet<string> = new Set([
  'type',
  'name',
  'description',
  'parameters',
  'strict',
  'format',
])

function readFunction(wire: Wire): Tool {
  return {
    kind: 'function',
    name: textOrNull(wire['name']) ?? '',
    description: textOrNull(wire['description']),
    parameters: recordOrNull(wire['parameters']),
    strict: booleanOrNull(wire['strict']),
  }
}

function readCustom(wire: Wire): Tool {
  return {
    kind: 'custom',
    name: textOrNull(wire['name']) ?? '',
    description: textOrNull(wire['description']),
    parameters: null,
    strict: null,
    format: readInputFormat(recordOrNull(wire['format'])),
  }
}

/** A grammar's members are flat here; chat completions has them in an object. */
function readInputFormat(wire: Wire | null): Wire | null {
  if (wire?.['type'] !== 'grammar') return wire
  const { type, ...grammar } = wire
  return { type, grammar }
}

function readToolChoice(wire: unknown): ToolChoice | null {
  if (wire === 'auto' || wire === 'required' || wire === 'none') return { kind: wire }
  if (wire === null) return null
  if (!isRecord(wire)) {
    throw fieldError(
      'tool_choice',
      'must be auto, required, none or an object with the chosen provider. Correct it or choose another model.',
    )
  }
  const { type, mode, tools } = wire
  if (type === 'allowed_tools') {
    const names = Array.isArray(tools) ? tools.filter(isRecord).map(readChosenName) : []
    return { kind: 'allowed', mode: mode === 'required' ? 'required' : 'auto', names }
  }
  if (type === 'function' || type === 'custom')
    return { kind: 'named', name: readChosenName(wire), tool: type }
  throw fieldError(
    'tool_choice.type',
    'must be function, custom or allowed_tools with the chosen provider. Correct it or choose another model.',
  )
}

function readChosenName({ name, namespace }: Wire): string {
  const own = textOrNull(name) ?? ''
  return typeof namespace === 'string' ? flatToolName({ namespace, name: own }) : own
}

function readOutput(wire: unknown): OutputFormat {
  if (!isRecord(wire) || wire['type'] === 'text') return { kind: 'text' }
  if (wire['type'] === 'json_object') return { kind: 'json' }
  if (wire['type'] === 'json_schema') {
    return {
      kind: 'schema',
      name: textOrNull(wire['name']) ?? 'answer',
      description: textOrNull(wire['description']),
      schema: schemaAt(wire['schema'], 'text.format.schema'),
      strict: booleanOrNull(wire['strict']),
    }
  }
  throw fieldError(
    'text.format.type',
    'must be text, json_object or json_schema with the chosen provider. Correct it or choose another model.',
  )
}

const reasoningMembers: ReadonlySet<string> = new Set([
  'effort',
  'max_tokens',
  'summary',
  'generate_summary',
  'enabled',
  'exclude',
])

function readReasoningWish(
  wire: Wire | null,
  reading: ConversationReading,
  isShown: boolean,
): ReasoningWish | null {
  if (wire === null) return null
  reading.rest(wire, reasoningMembers, 'reasoning')
  const effort = wire['enabled'] === false ? 'none' : wire['effort']
  const budgetTokens = numberOrNull(wire['max_tokens'])
  // Hiding thoughts is no request to think.
  if (!isShown && (effort ?? null) === null && budgetTokens === null && wire['enabled'] !== true) return null
  return {
    effort: readEffort(effort, 'reasoning.effort', reading),
    budgetTokens,
    summary: textOrNull(wire['summary'] ?? wire['generate_summary']),
    isShown,
  }
}

function readVerbosity(wire: unknown, reading: ConversationReading): 'low' | 'medium' | 'high' | null {
  if (wire === 'low' || wire === 'medium' || wire === 'high') return wire
  if (wire !== undefined && wire !== null) reading.own.add('text.verbosity')
  return null
}
