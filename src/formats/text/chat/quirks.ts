import { quirksOf, type TextQuirks } from '../codec.ts'
import type { TextInterface, TextPath } from '../text-interface.ts'
import type { AddressSupport } from '../media/address-support.ts'
import { extendedChatShape, gatewayChatShape, standardChatShape } from './request-schema.ts'

/** Where an OpenAI-compatible provider differs from OpenAI's chat completions, as data. */
export interface ChatQuirkOptions {
  /**
   * The member that limits output; the other spelling is renamed to it. With `as_sent` both stay, and a limit from
   * another format goes out as `max_tokens`. Default `max_tokens`, which most hosts know.
   */
  maxTokensField?: 'max_completion_tokens' | 'max_tokens' | 'as_sent'
  /**
   * Whether the provider knows `stream_options`. `drop` when it sends usage anyway or refuses the member. Default
   * `send`.
   */
  streamOptions?: 'send' | 'drop'
  /** What happens to members that no format knows. Default `drop`; `forward` for servers that the operator runs. */
  unknownMembers?: 'forward' | 'drop'
  /** Members beyond OpenAI's format that the provider honours. */
  accepts?: readonly string[]
  /** Members of OpenAI's format that the provider refuses. */
  drops?: readonly string[]
  /** Members that the provider ignores although they change the answer: a call that sets one is refused. */
  refuses?: readonly string[]
  /** Members that have another name at the provider. */
  renames?: Readonly<Record<string, string>>
  /**
   * How the contract's `reasoning` object is sent: as `reasoning_effort`, as an object, or not at all. `as_sent`: a
   * chat caller's own object passes unchanged, and other callers' efforts go as `reasoning_effort`. `switch`: the
   * object has only `enabled`, which is false for the effort `none`. `thinking`: an object `thinking` with a `type`
   * says the same. Default `effort`.
   */
  reasoning?: 'effort' | 'switch' | 'thinking' | 'object' | 'as_sent' | 'drop'
  /** Efforts that the provider does not know, and the effort that it gets instead. Default none. */
  nearestEfforts?: Readonly<Partial<Record<string, string>>>
  /** The member in which an assistant's earlier reasoning is sent back; `drop` leaves it out. Default `drop`. */
  reasoningHistory?: 'reasoning' | 'reasoning_content' | 'drop' | 'keep'
  /** The provider's spelling of `tool_choice: "required"`. Default `required`. */
  toolChoiceRequired?: 'required' | 'any'
  /** Whether the provider knows the role `developer`; otherwise it becomes `system`. Default false. */
  developerRole?: boolean
  /** Whether the provider accepts `messages[].name`. Default true. */
  messageNames?: boolean
  /** Whether a tool's message may carry the tool's name. Default false. */
  toolMessageNames?: boolean
  /** Service tiers, by the provider's names, that cost the same as its default; others are left out. Default none. */
  serviceTiers?: readonly string[]
  /**
   * Whether an assistant's message in a request may have `refusal` and `annotations`, as OpenAI's answers do. Default
   * false.
   */
  answerMembers?: boolean
  /**
   * Whether tool call ids must be nine letters or digits; other ids are then rewritten, the same id always the same
   * way. Default false.
   */
  shortToolCallIds?: boolean
  /** The temperature to send instead of 0, where the provider refuses or replaces 0. */
  temperatureMin?: number
  /** The most choices in a call; a call for more is refused. Default null: no limit is known. */
  choicesMax?: number | null
  /** Whether `response_format` may carry a schema; otherwise it asks for any JSON object. Default true. */
  jsonSchema?: boolean
  /** The longest `user` that the provider takes; a longer one is left out. */
  userLengthMax?: number
  /** Whether the completion's count may omit reasoning tokens. Default false. */
  reasoningNotCounted?: boolean
  /**
   * The media that the provider fetches by URL. Default: images at any URL, and no files, which the format has only as
   * bytes.
   */
  addresses?: AddressSupport
  /**
   * The members that this model does not take; null for a model that takes all of them. Default: every model takes all.
   */
  modelOf?: (upstreamModel: string) => ChatModel | null
}

/** Whether a host has a member that switches thinking on or off. */
export function hasSwitch({ reasoning }: Pick<ChatQuirks, 'reasoning'>): boolean {
  return reasoning === 'switch' || reasoning === 'thinking'
}

/** Members that one model of a provider refuses although its other models take them. */
export interface ChatModel {
  /** Tuning members: left out and listed. */
  drops: readonly string[]
  /** Members that change the answer: a call that sets one is refused. */
  refuses: readonly string[]
  /** Members of the two lists above that the model takes in a call that asks it not to think. */
  takesUnthinking: readonly string[]
}

/** What happens to a request member: passed on, removed silently, removed and listed, refused, or renamed. */
type MemberRule = 'keep' | 'remove' | 'drop' | 'refuse' | { rename: string }

/** Options with their defaults, and the computed rule of every known member. */
export interface ChatQuirks extends Required<
  Omit<ChatQuirkOptions, 'accepts' | 'drops' | 'refuses' | 'renames'>
> {
  format: 'chat'
  rules: ReadonlyMap<string, MemberRule>
  unknownRule: MemberRule
  /** Members with the rule `refuse`. */
  refused: readonly string[]
}

/** Members that other code handles; the table decides only about the rest. */
const handledApart: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'max_tokens',
  'max_completion_tokens',
  'reasoning',
  'stream_options',
  'service_tier',
])

/** Members that only OpenAI stores or bills by; no other host gets them. */
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

/**
 * Members that ask for another kind of answer, or for a checked one: a host that does not accept them must not answer
 * without them.
 */
const needed = ['modalities', 'audio', 'web_search_options', 'image_config', 'moderation'] as const

/** Completes options with defaults: a host that knows OpenAI's core format and nothing else. */
export function chatQuirks(options: ChatQuirkOptions = {}): ChatQuirks {
  const { accepts = [], drops = [], refuses = [], renames = {}, unknownMembers = 'drop' } = options
  const rules = new Map<string, MemberRule>()
  for (const name of Object.keys(gatewayChatShape)) rules.set(name, 'remove')
  for (const name of Object.keys(standardChatShape)) rules.set(name, openAiOnly.has(name) ? 'drop' : 'keep')
  for (const name of Object.keys(extendedChatShape)) rules.set(name, 'drop')
  for (const name of [...needed, ...refuses]) rules.set(name, 'refuse')
  // The gateway itself removes thoughts from an answer.
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

/** All members that only OpenAI's own service understands; its preset accepts them. */
export const openAiMembers: readonly string[] = [...openAiOnly]

/** OpenAI's chat completions, with a provider's differences as data. */
export function openAiChat(
  options: ChatQuirkOptions = {},
  path: TextPath = '/chat/completions',
): TextInterface<ChatQuirks> {
  return { format: 'chat', path, quirks: chatQuirks(options) }
}

/** The quirks of a provider that has this format. */
export function asChat(quirks: TextQuirks): ChatQuirks {
  return quirksOf<ChatQuirks>(quirks, 'chat')
}
