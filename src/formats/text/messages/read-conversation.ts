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
import { isRecord, numberOrNull, recordOrNull, textOrNull } from '../../../json/values.ts'
import { ConversationReading, extrasOf, readEffort, schemaAt } from '../conversation-reading.ts'
import { fieldError } from '../../../core/errors.ts'
import { unknownMembers } from '../member-names.ts'
import { readMessagesTurns } from './read-turns.ts'
import { messagesRequestShape } from './request-schema.ts'

type Wire = Readonly<Record<string, unknown>>

/** A messages request as a conversation, in which the formats meet. The decoder has checked its members. */
export function* readMessagesConversation(
  call: TextCall,
  upstreamFormat: TextFormat,
): Generator<void, Conversation> {
  const { document } = call
  const reading = new ConversationReading(document, upstreamFormat === 'messages')
  const value = (name: string) => reading.value(name)
  const choice = recordOrNull(value('tool_choice'))
  const config = recordOrNull(value('output_config'))
  const format = config?.['format'] ?? null
  if (config !== null) reading.rest(config, configMembers, 'output_config')
  const cache = readCacheMark(value('cache_control'))
  const metadata = recordOrNull(value('metadata'))
  const [system, messages] = [value('system'), value('messages')]
  yield
  const turns = yield* readMessagesTurns(system, messages, reading)
  const tools = readTools(value('tools'), reading)
  return {
    format: 'messages',
    turns,
    tools,
    toolChoice: choice === null ? null : readToolChoice(choice),
    isParallel: choice?.['disable_parallel_tool_use'] === true ? false : null,
    outputTokensMax: call.demand.outputTokensMax,
    choices: 1,
    stop: readTexts(value('stop_sequences')),
    output:
      format === null
        ? readOutput(value('output_format'), 'output_format')
        : readOutput(format, 'output_config.format'),
    reasoning: readReasoningWish(recordOrNull(value('thinking')), config?.['effort'], {
      reading,
      isShown: call.hiddenThoughts === undefined,
    }),
    logprobs: null,
    tuning: {
      temperature: numberOrNull(value('temperature')),
      topP: numberOrNull(value('top_p')),
      topK: numberOrNull(value('top_k')),
      minP: null,
      seed: null,
      presencePenalty: null,
      frequencyPenalty: null,
      repetitionPenalty: null,
      logitBias: null,
      verbosity: null,
      serviceTier: readTier(value('service_tier')),
      cacheKey: null,
    },
    userId: textOrNull(metadata?.['user_id']) ?? call.userId,
    metadata: null,
    ...(cache === null ? {} : { cache }),
    stream: call.stream,
    ownMembers: {
      needed: neededMembers.filter((name) => reading.has(name) && !isAnywhere(name, value(name))),
      optional: [
        ...optionalMembers.filter((name) => reading.has(name)),
        ...unknownMembers(document, messagesRequestShape).filter((name) => !isNamed(name)),
        ...reading.own,
      ],
    },
  }
}

/** The provider keeps a thread, so a request that names one has only the newest messages. */
const neededMembers = ['mcp_servers', 'container', 'thread', 'previous_message_id', 'inference_geo'] as const
const optionalMembers = ['context_management', 'speed', 'diagnostics', 'compaction'] as const

/** Whether the provider may run the model anywhere, as in every other format. */
export function isAnywhere(name: string, value: unknown): boolean {
  return name === 'inference_geo' && value === 'global'
}

const configMembers: ReadonlySet<string> = new Set(['effort', 'format'])

/** Members that the schema lacks but this file handles. */
function isNamed(name: string): boolean {
  return [...neededMembers, ...optionalMembers, 'output_format'].some((named) => named === name)
}

/** In every format `auto` and `standard_only` are the default tier. */
function readTier(wire: unknown): string | null {
  return wire === 'auto' || wire === 'standard_only' ? null : textOrNull(wire)
}

function readTexts(wire: unknown): string[] {
  return Array.isArray(wire) ? wire.filter((text) => typeof text === 'string') : []
}

/** A tool with another type is one that the provider knows or runs itself. */
function readTools(wire: unknown, reading: ConversationReading): (Tool | ProviderTool)[] {
  if (!Array.isArray(wire)) return []
  return wire.filter(isRecord).map((tool) => {
    const type = tool['type'] ?? 'custom'
    return type === 'custom' ? readTool(tool, reading) : { kind: 'provider', format: 'messages', value: tool }
  })
}

const toolMembers: ReadonlySet<string> = new Set([
  'type',
  'name',
  'description',
  'input_schema',
  'strict',
  'cache_control',
])

function readTool(wire: Wire, reading: ConversationReading): Tool {
  const { name, description, input_schema: schema, strict } = wire
  const cache = readCacheMark(wire['cache_control'])
  return {
    kind: 'function',
    name: textOrNull(name) ?? '',
    description: textOrNull(description),
    parameters: recordOrNull(schema),
    strict: typeof strict === 'boolean' ? strict : null,
    ...(cache === null ? {} : { cache }),
    ...extrasOf('messages', reading.rest(wire, toolMembers, 'tools[]')),
  }
}

function readToolChoice({ type, name }: Wire): ToolChoice {
  if (type === 'any') return { kind: 'required' }
  if (type === 'auto' || type === 'none') return { kind: type }
  if (typeof name === 'string') return { kind: 'named', name, tool: 'function' }
  throw fieldError('tool_choice.name', 'is required with the type tool. Name a tool or choose another type.')
}

function readOutput(wire: unknown, path: string): OutputFormat {
  if (!isRecord(wire)) return { kind: 'text' }
  if (wire['type'] !== 'json_schema') {
    throw fieldError(
      `${path}.type`,
      'must be json_schema with the chosen provider. Correct it or choose another model.',
    )
  }
  // The provider enforces every schema exactly; other formats call this strict.
  return {
    kind: 'schema',
    name: 'answer',
    description: null,
    schema: schemaAt(wire['schema'], `${path}.schema`),
    strict: true,
  }
}

function readReasoningWish(
  thinking: Wire | null,
  effort: unknown,
  { reading, isShown }: { reading: ConversationReading; isShown: boolean },
): ReasoningWish | null {
  if (thinking?.['type'] === 'disabled')
    return { effort: 'none', budgetTokens: null, summary: null, isShown: true }
  const level = readEffort(effort, 'output_config.effort', reading)
  if (thinking === null && level === null) return null
  return {
    effort: level,
    budgetTokens: numberOrNull(thinking?.['budget_tokens']),
    // The format shows the summary of a thought.
    summary: thinking === null ? null : 'auto',
    isShown: thinking !== null && isShown,
  }
}
