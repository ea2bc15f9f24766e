import { hasMember, type JsonDocument } from '../../json/document.ts'
import type { Conversation, ConversationFormat } from '../../canonical/text/conversation.ts'
import { fieldError } from '../../core/errors.ts'
import type { Turn } from '../../canonical/text/conversation.ts'

/** The parts of a request that a provider may be unable to take. */
export type Carried =
  | 'outputTokensMax'
  | 'choices'
  | 'logprobs'
  | 'stop'
  | 'output'
  | 'tools'
  | 'toolChoice'
  | 'isParallel'
  | 'reasoning'
  | 'temperature'
  | 'topP'
  | 'topK'
  | 'minP'
  | 'seed'
  | 'presencePenalty'
  | 'frequencyPenalty'
  | 'repetitionPenalty'
  | 'logitBias'
  | 'verbosity'
  | 'serviceTier'
  | 'cacheKey'
  | 'userId'
  | 'metadata'
  | 'speaker'
  | 'turnRole'
  | 'detail'
  | 'thought'
  | 'budget'
  | 'summary'
  | 'display'
  | 'resultMedia'
  | 'resultError'
  | 'cache'
  | 'partCache'
  | 'systemCache'
  | 'toolCache'

/** Each part by the name in its caller's format; a format without the member never sets it. */
const names: Readonly<Record<Carried, Readonly<Partial<Record<ConversationFormat, string>>>>> = {
  outputTokensMax: { chat: 'max_completion_tokens', responses: 'max_output_tokens', messages: 'max_tokens' },
  choices: { chat: 'n' },
  logprobs: { chat: 'logprobs', responses: 'top_logprobs' },
  stop: { chat: 'stop', messages: 'stop_sequences' },
  output: { chat: 'response_format', responses: 'text.format', messages: 'output_config.format' },
  tools: { chat: 'tools', responses: 'tools', messages: 'tools' },
  toolChoice: { chat: 'tool_choice', responses: 'tool_choice', messages: 'tool_choice' },
  isParallel: {
    chat: 'parallel_tool_calls',
    responses: 'parallel_tool_calls',
    messages: 'tool_choice.disable_parallel_tool_use',
  },
  reasoning: { chat: 'reasoning', responses: 'reasoning', messages: 'thinking' },
  temperature: { chat: 'temperature', responses: 'temperature', messages: 'temperature' },
  topP: { chat: 'top_p', responses: 'top_p', messages: 'top_p' },
  topK: { chat: 'top_k', responses: 'top_k', messages: 'top_k' },
  minP: { chat: 'min_p' },
  seed: { chat: 'seed' },
  presencePenalty: { chat: 'presence_penalty', responses: 'presence_penalty' },
  frequencyPenalty: { chat: 'frequency_penalty', responses: 'frequency_penalty' },
  repetitionPenalty: { chat: 'repetition_penalty' },
  logitBias: { chat: 'logit_bias' },
  verbosity: { chat: 'verbosity', responses: 'text.verbosity' },
  serviceTier: { chat: 'service_tier', responses: 'service_tier', messages: 'service_tier' },
  cacheKey: { chat: 'prompt_cache_key', responses: 'prompt_cache_key' },
  userId: { chat: 'user', responses: 'user', messages: 'metadata.user_id' },
  metadata: { chat: 'metadata', responses: 'metadata' },
  speaker: { chat: 'messages[].name' },
  turnRole: { chat: 'messages[].role', responses: 'input[].role', messages: 'messages[].role' },
  detail: { chat: 'messages[].content[].image_url.detail', responses: 'input[].content[].detail' },
  thought: {
    chat: 'messages[].reasoning',
    responses: 'input[].reasoning',
    messages: 'messages[].content[].thinking',
  },
  budget: {
    chat: 'reasoning.max_tokens',
    responses: 'reasoning.max_tokens',
    messages: 'thinking.budget_tokens',
  },
  summary: { chat: 'reasoning.summary', responses: 'reasoning.summary', messages: 'thinking' },
  display: { chat: 'reasoning.exclude', messages: 'thinking.display' },
  resultMedia: {
    chat: 'messages[].content',
    responses: 'input[].output',
    messages: 'messages[].content[].content',
  },
  resultError: { messages: 'messages[].content[].is_error' },
  cache: { chat: 'cache_control', responses: 'cache_control', messages: 'cache_control' },
  partCache: { chat: 'messages[].content[].cache_control', messages: 'messages[].content[].cache_control' },
  systemCache: { chat: 'messages[].content[].cache_control', messages: 'system[].cache_control' },
  toolCache: { chat: 'tools[].cache_control', messages: 'tools[].cache_control' },
}

/** The member's name in the caller's format, for errors and for lists of dropped members. */
export function nameOf(carried: Carried, { format }: Pick<Conversation, 'format'>): string {
  return names[carried][format] ?? carried
}

/** The error for a part of a turn that the provider's format has no place for. `what` is in the plural. */
export function cannotCarry({ place }: Turn, what: string): Error {
  return fieldError(
    place,
    `has ${what}, which the chosen provider cannot be sent. Leave them out or choose another model.`,
  )
}

/** The error for a tool that the provider's format has no place for. */
export function refuseTool(conversation: Conversation, what: string): Error {
  const remedy = 'which the chosen provider cannot be sent. Leave it out or choose another model.'
  return fieldError(nameOf('tools', conversation), `has ${what}, ${remedy}`)
}

/** The part that a member carries, or that the member around it carries; null for one that no other format has. */
export function carriedBy(format: ConversationFormat, name: string): Carried | null {
  return exactlyCarriedBy(format, name) ?? exactlyCarriedBy(format, name.split('.', 1)[0] ?? name)
}

function exactlyCarriedBy(format: ConversationFormat, name: string): Carried | null {
  for (const [carried, byFormat] of Object.entries(names)) {
    if (byFormat[format] === name) return carried as Carried
  }
  return null
}

/**
 * The members that another format must leave out of a request, for the list of dropped members. Throws
 * `invalid_request` for a member that must not be left out.
 */
export function leaveOwnMembers(
  { format, ownMembers }: Conversation,
  upstream: ConversationFormat,
): readonly string[] {
  const { unknown = [] } = ownMembers
  if (format === upstream) return unknown
  const [needed] = ownMembers.needed
  if (needed !== undefined) {
    throw fieldError(needed, 'cannot be sent to the chosen provider. Leave it out or choose another model.')
  }
  return [...ownMembers.optional, ...unknown]
}

/** Members of a request that its format's schema does not know, so no other format can carry them. */
export function unknownMembers(document: JsonDocument, shape: object): readonly string[] {
  return [...document.members.keys()].filter(
    (name) => !Object.hasOwn(shape, name) && hasMember(document, name),
  )
}

/** The losses of a request on its way into another format, by the names in its caller's format. */
export class Losses {
  readonly dropped = new Set<string>()
  readonly approximated = new Set<string>()
  readonly #conversation: Pick<Conversation, 'format'>

  constructor(conversation: Pick<Conversation, 'format'>) {
    this.#conversation = conversation
  }

  /** Notes a part that the provider does not get. */
  drop(carried: Carried): void {
    this.dropped.add(nameOf(carried, this.#conversation))
  }

  /** Notes a part that the provider gets in another form. */
  approximate(carried: Carried): void {
    this.approximated.add(nameOf(carried, this.#conversation))
  }
}
