import { quirksOf, type TextQuirks } from '../codec.ts'
import type { TextInterface, TextPath } from '../text-interface.ts'
import type { AddressSupport } from '../media/address-support.ts'
import { extendedChatShape, gatewayChatShape, standardChatShape } from './request-schema.ts'

/** Where an OpenAI-compatible provider differs from OpenAI's chat completions, as data. */
export interface ChatQuirkOptions {
  /**
   * The member that limits output; the other spelling is renamed to it, or both stay `as_sent`: then a limit that came in
   * another format goes as `max_tokens`. Default `max_tokens`, which most hosts know.
   */
  maxTokensField?: 'max_completion_tokens' | 'max_tokens' | 'as_sent'
  /** Whether `stream_options` is understood. `drop` where usage comes anyway or the member is refused. Default `send`. */
  streamOptions?: 'send' | 'drop'
  /** What happens to members no format knows. Default `drop`; `forward` for servers the operator runs. */
  unknownMembers?: 'forward' | 'drop'
  /** Members beyond OpenAI's format that the provider honours. */
  accepts?: readonly string[]
  /** Members of OpenAI's format that the provider refuses. */
  drops?: readonly string[]
  /** Members the provider does not honour and that change what the answer means: a call that sets one is refused. */
  refuses?: readonly string[]
  /** Members the provider calls otherwise. */
  renames?: Readonly<Record<string, string>>
  /**
   * How the contract's `reasoning` object is carried: as `reasoning_effort`, as it is, or not at all. With `as_sent` a
   * chat caller's own object goes on as it is, and other callers' wishes as `reasoning_effort`. With `switch` the object has
   * `enabled` alone, which also says the effort `none`; with `thinking` an object of that name with a `type` says the same.
   * Default `effort`.
   */
  reasoning?: 'effort' | 'switch' | 'thinking' | 'object' | 'as_sent' | 'drop'
  /** Efforts that the provider does not know, and what it is told instead. Default none. */
  nearestEfforts?: Readonly<Partial<Record<string, string>>>
  /** How an assistant's earlier reasoning is sent back: under this name, or left out. Default `drop`. */
  reasoningHistory?: 'reasoning' | 'reasoning_content' | 'drop' | 'keep'
  /** How `tool_choice: "required"` is spelled. Default `required`. */
  toolChoiceRequired?: 'required' | 'any'
  /** Whether the role `developer` is known; else it becomes `system`. Default false. */
  developerRole?: boolean
  /** Whether `messages[].name` is accepted. Default true. */
  messageNames?: boolean
  /** Whether a tool's message may carry the tool's name. Default false. */
  toolMessageNames?: boolean
  /** Service tiers, by the provider's own names, that cost what its default costs; others are left out. Default none. */
  serviceTiers?: readonly string[]
  /** Whether an assistant's message may come back with `refusal` and `annotations`, as OpenAI's own answers have them. Default false. */
  answerMembers?: boolean
  /** Whether tool call ids must be nine letters or digits; foreign ones are then rewritten consistently. Default false. */
  shortToolCallIds?: boolean
  /** The least temperature instead of 0, where 0 is refused or replaced. */
  temperatureMin?: number
  /** Most answers per call; more are refused. Default null: no limit known. */
  choicesMax?: number | null
  /** Whether `response_format` may carry a schema; else it asks for any JSON object. Default true. */
  jsonSchema?: boolean
  /** Longest `user` the provider takes; a longer one is left out. */
  userLengthMax?: number
  /** Whether reasoning tokens may be missing from the completion's count. Default false. */
  reasoningNotCounted?: boolean
  /** What it fetches itself. Default: images of any address, and no files, which the format has as bytes alone. */
  addresses?: AddressSupport
  /** What a model of this name takes less of than the others; null of those that take the same. Default: all do. */
  modelOf?: (upstreamModel: string) => ChatModel | null
}

/** Whether a host has a member that says whether to think at all. */
export function hasSwitch({ reasoning }: Pick<ChatQuirks, 'reasoning'>): boolean {
  return reasoning === 'switch' || reasoning === 'thinking'
}

/** What one model of a provider refuses, though its other models take it. */
export interface ChatModel {
  /** Tuning: left out and listed. */
  drops: readonly string[]
  /** What changes the answer: a call that sets it is refused. */
  refuses: readonly string[]
  /** Those of both that it takes from a call that asks it not to think. */
  takesUnthinking: readonly string[]
}

/** What becomes of a request member: passed on, taken out silently, taken out and listed, refused, or renamed. */
type MemberRule = 'keep' | 'remove' | 'drop' | 'refuse' | { rename: string }

/** Options with their defaults, and the rule of every known member worked out once. */
export interface ChatQuirks extends Required<
  Omit<ChatQuirkOptions, 'accepts' | 'drops' | 'refuses' | 'renames'>
> {
  format: 'chat'
  rules: ReadonlyMap<string, MemberRule>
  unknownRule: MemberRule
  /** Members with the rule `refuse`. */
  refused: readonly string[]
}

/** Members with their own handling; the table only decides about the rest. */
const handledApart: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'max_tokens',
  'max_completion_tokens',
  'reasoning',
  'stream_options',
  'service_tier',
])

/** Members OpenAI alone keeps or bills by; no other host is sent them. */
const openAiOnly: ReadonlySet<string> = new Set([
  'store',
  'metadata',
  'moderation',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'safety_identifier',
  'web_search_options',
  'prediction',
  'audio',
  'modalities',
  'verbosity',
])

/** Members that ask for another kind of answer, or for one that was looked through: a host that does not accept them may not answer without them. */
const needed = ['modalities', 'audio', 'web_search_options', 'image_config', 'moderation'] as const

/** Completes options with defaults: a host that knows OpenAI's core format and nothing else. */
export function chatQuirks(options: ChatQuirkOptions = {}): ChatQuirks {
  const { accepts = [], drops = [], refuses = [], renames = {}, unknownMembers = 'drop' } = options
  const rules = new Map<string, MemberRule>()
  for (const name of Object.keys(gatewayChatShape)) rules.set(name, 'remove')
  for (const name of Object.keys(standardChatShape)) rules.set(name, openAiOnly.has(name) ? 'drop' : 'keep')
  for (const name of Object.keys(extendedChatShape)) rules.set(name, 'drop')
  for (const name of [...needed, ...refuses]) rules.set(name, 'refuse')
  // The gateway itself leaves thoughts out of an answer.
  rules.set('include_reasoning', 'remove')
  for (const name of accepts) rules.set(name, 'keep')
  for (const name of drops) rules.set(name, 'drop')
  for (const [name, rename] of Object.entries(renames)) rules.set(name, { rename })
  for (const name of handledApart) rules.set(name, 'keep')
  return {
    format: 'chat',
    rules,
    unknownRule: unknownMembers === 'forward' ? 'keep' : 'drop',
    refused: [...rules].flatMap(([name, rule]) => (rule === 'refuse' ? [name] : [])),
    unknownMembers,
    maxTokensField: options.maxTokensField ?? 'max_tokens',
    streamOptions: options.streamOptions ?? 'send',
    reasoning: options.reasoning ?? 'effort',
    nearestEfforts: options.nearestEfforts ?? {},
    reasoningHistory: options.reasoningHistory ?? 'drop',
    toolChoiceRequired: options.toolChoiceRequired ?? 'required',
    developerRole: options.developerRole ?? false,
    messageNames: options.messageNames ?? true,
    toolMessageNames: options.toolMessageNames ?? false,
    serviceTiers: options.serviceTiers ?? [],
    answerMembers: options.answerMembers ?? false,
    shortToolCallIds: options.shortToolCallIds ?? false,
    temperatureMin: options.temperatureMin ?? 0,
    choicesMax: options.choicesMax ?? null,
    jsonSchema: options.jsonSchema ?? true,
    userLengthMax: options.userLengthMax ?? Number.POSITIVE_INFINITY,
    reasoningNotCounted: options.reasoningNotCounted ?? false,
    addresses: options.addresses ?? { image: 'any', file: 'none' },
    modelOf: options.modelOf ?? (() => null),
  }
}

/** Every member name that only OpenAI's own service understands; its preset accepts them. */
export const openAiMembers: readonly string[] = [...openAiOnly]

/** OpenAI's chat completions, with a provider's departures as data. */
export function openAiChat(
  options: ChatQuirkOptions = {},
  path: TextPath = '/chat/completions',
): TextInterface<ChatQuirks> {
  return { format: 'chat', path, quirks: chatQuirks(options) }
}

/** The quirks of a provider that speaks this format. */
export function asChat(quirks: TextQuirks): ChatQuirks {
  return quirksOf<ChatQuirks>(quirks, 'chat')
}
