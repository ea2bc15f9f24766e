import { knownNameOf } from '../../../canonical/endpoint.ts'
import type { Conversation, ReasoningWish, Tool, ToolChoice } from '../../../canonical/text/conversation.ts'
import type { EncodedRequest, RequestTarget } from '../halves.ts'
import { writeCacheMark } from '../cache-mark.ts'
import { isRecord, typeNameOf } from '../../../json/values.ts'
import { fieldError } from '../../../core/errors.ts'
import { closedSchemaOf, type JsonSchema } from '../output/json-schema.ts'
import { type Carried, leaveOwnMembers, Losses, nameOf, refuseTool } from '../member-names.ts'
import { tellOutput } from '../output/promised-output.ts'
import type { MessagesModel, MessagesQuirks } from './quirks.ts'
import { writeTurns } from './write-turns.ts'

/** Fewest tokens that Anthropic lets a model think with. */
const thinkingBudgetMin = 1_024

type Wire = Record<string, unknown>

/** The state of writing a request: its body, and the list of losses for the caller. */
interface Writing {
  conversation: Conversation
  model: MessagesModel
  quirks: MessagesQuirks
  body: Wire
  losses: Losses
}

/**
 * Writes a conversation as a body for Anthropic's messages. Throws `invalid_request` for a part that must not be left
 * out.
 */
export function* writeMessagesRequest(
  conversation: Conversation,
  { endpoint, quirks }: RequestTarget<MessagesQuirks>,
): Generator<void, EncodedRequest> {
  const model = quirks.modelOf(knownNameOf(endpoint))
  refuseWhatIsMissing(conversation)
  const left = leaveOwnMembers(conversation, 'messages')
  const losses = new Losses(conversation)
  const { system, messages } = yield* writeTurns(conversation, { quirks, model, losses })
  const held = heldOutputOf(conversation, model, quirks)
  const tool = held === null ? answerToolOf(conversation, quirks) : null
  const told =
    held === null ? tellOutput(conversation.output, nameOf('output', conversation), tool !== null) : null
  if (told !== null) losses.approximate('output')
  if (told !== null && tool === null) system.push({ type: 'text', text: told.instruction })
  const limit = conversation.outputTokensMax ?? endpoint.outputTokensMax ?? model.outputTokensMax
  const { inBody } = quirks
  const body: Wire = {
    ...(inBody === null ? { model: endpoint.upstreamModel } : { anthropic_version: inBody.version }),
    max_tokens: limit,
    ...(system.length > 0 ? { system } : {}),
    messages,
    ...(conversation.stream && (inBody?.hasStream ?? true) ? { stream: true } : {}),
  }
  const writing: Writing = { conversation, model, quirks, body, losses }
  writeTools(writing)
  writeReasoning(writing, limit)
  if (held !== null) writeOutput(writing, held)
  if (tool !== null) Object.assign(body, tool)
  writeSampling(writing)
  writeRest(writing)
  yield
  return {
    body: [JSON.stringify(body)],
    dropped: [...left, ...losses.dropped],
    approximated: [...losses.approximated],
    ...(told === null
      ? {}
      : { promised: tool === null ? told.promised : { ...told.promised, tool: answerTool } }),
  }
}

/**
 * The schema that the provider itself enforces; null when it does not. If the caller's format is messages and the
 * provider takes all of it, the provider judges the schema.
 */
function heldOutputOf(
  { output, format }: Conversation,
  model: MessagesModel,
  { isWhole }: MessagesQuirks,
): JsonSchema | null {
  if (output.kind !== 'schema') return null
  if (format === 'messages' && isWhole) return output.schema ?? anyObject
  return model.hasSchema && output.schema !== null ? closedSchemaOf(output.schema) : null
}

const anyObject: JsonSchema = { type: 'object' }

/**
 * A model that cannot enforce a schema gives its answer as arguments of this tool, which then nearly fit the schema.
 */
const answerTool = 'give_answer'

/**
 * The tool, and a choice that forces it. Null in three cases: the caller has its own tools, the model is to think (the
 * provider refuses that together with a forced tool), or the answer is not an object.
 */
function answerToolOf(
  { output, tools, reasoning }: Conversation,
  { hasToolChoice }: MessagesQuirks,
): Wire | null {
  if (output.kind !== 'schema' || output.schema?.['type'] !== 'object' || !hasToolChoice) return null
  const isThinking = reasoning !== null && reasoning.effort !== 'none'
  if (tools.length > 0 || isThinking) return null
  const { schema, description } = output
  return {
    tools: [{ name: answerTool, description: description ?? 'Give the answer.', input_schema: schema }],
    tool_choice: { type: 'tool', name: answerTool, disable_parallel_tool_use: true },
  }
}

/** Throws for options that change the answer and have no place in the format. */
function refuseWhatIsMissing(conversation: Conversation): void {
  const cannot = (carried: Carried) =>
    fieldError(
      nameOf(carried, conversation),
      'cannot be sent to the chosen provider. Leave it out or choose another model.',
    )
  if (conversation.choices > 1) throw cannot('choices')
  if (conversation.logprobs !== null) throw cannot('logprobs')
  for (const tool of conversation.tools) {
    if (tool.kind === 'custom') throw refuseTool(conversation, `the custom tool "${tool.name}"`)
    if (tool.kind === 'provider' && tool.format !== 'messages')
      throw refuseTool(conversation, `"${typeNameOf(tool.value)}"`)
  }
}

function writeTools({ conversation, quirks, body, losses }: Writing): void {
  const { tools, toolChoice, isParallel } = conversation
  const allowed = toolChoice?.kind === 'allowed' ? new Set(toolChoice.names) : null
  const written = tools.flatMap((tool) => {
    if (tool.kind === 'provider') return [tool.value]
    if (tool.cache !== undefined && !quirks.hasCacheMarks) losses.drop('toolCache')
    return allowed !== null && !allowed.has(tool.name) ? [] : [writeTool(tool, quirks)]
  })
  if (written.length === 0) return
  body['tools'] = written
  if (!quirks.hasToolChoice) {
    dropChoice(conversation, losses)
    return
  }
  const choice = toolChoice === null ? null : writeToolChoice(toolChoice)
  if (isParallel === false) {
    body['tool_choice'] = { ...(choice ?? { type: 'auto' }), disable_parallel_tool_use: true }
  } else if (choice !== null) body['tool_choice'] = choice
}

/** Notes the lost choice: the provider's model chooses among all tools, and calls as many as it likes. */
function dropChoice({ toolChoice, isParallel }: Conversation, losses: Losses): void {
  if (toolChoice !== null && toolChoice.kind !== 'auto') losses.drop('toolChoice')
  if (isParallel === false) losses.drop('isParallel')
}

function writeTool(tool: Tool, { hasCacheMarks }: MessagesQuirks): Wire {
  return {
    name: tool.name,
    ...(tool.description === null ? {} : { description: tool.description }),
    input_schema: { type: 'object', properties: {}, ...tool.parameters },
    ...(tool.strict === true ? { strict: true } : {}),
    ...(tool.cache !== undefined && hasCacheMarks ? { cache_control: writeCacheMark(tool.cache) } : {}),
    ...tool.extras?.messages,
  }
}

function writeToolChoice(choice: ToolChoice): Wire {
  if (choice.kind === 'named') return { type: 'tool', name: choice.name }
  const mode = choice.kind === 'allowed' ? choice.mode : choice.kind
  return { type: mode === 'required' ? 'any' : mode }
}

const budgetShares: Readonly<Record<string, number>> = {
  minimal: 0.02,
  low: 0.1,
  medium: 0.3,
  high: 0.6,
  xhigh: 0.9,
  max: 0.95,
}

/** `low` is the format's lowest effort. */
const efforts: Readonly<Record<string, string>> = { minimal: 'low' }

function writeReasoning(writing: Writing, limit: number): void {
  const { conversation, model, body } = writing
  const { reasoning, toolChoice } = conversation
  if (reasoning === null) return
  if (reasoning.effort === 'none') {
    if (model.thinking !== 'none') body['thinking'] = { type: 'disabled' }
    return
  }
  // The provider refuses thinking together with a forced tool.
  const isForced = toolChoice?.kind === 'required' || toolChoice?.kind === 'named'
  const isInterrupted = writing.quirks.signsThoughts && !beginsWithThought(body['messages'])
  if (isForced || model.thinking === 'none' || (model.thinking === 'budget' && isInterrupted)) {
    writing.losses.drop('reasoning')
    return
  }
  const display = reasoning.isShown ? {} : { display: 'omitted' }
  if (model.thinking === 'adaptive') {
    body['thinking'] = { type: 'adaptive', ...display }
    // An adaptive model decides itself how much it thinks.
    if (reasoning.budgetTokens !== null) writing.losses.drop('budget')
    if (model.hasEffort && reasoning.effort !== null)
      mergeInto(body, 'output_config', { effort: efforts[reasoning.effort] ?? reasoning.effort })
    return
  }
  const budget = budgetOf(reasoning, limit)
  if (budget === null) {
    writing.losses.drop('reasoning')
    return
  }
  body['thinking'] = { type: 'enabled', budget_tokens: budget, ...display }
  if (reasoning.budgetTokens !== null && reasoning.budgetTokens !== budget)
    writing.losses.approximate('budget')
}

/**
 * Whether the model can continue its last message with thoughts. With a budget the provider refuses to do so after tool
 * calls that have no thought before them.
 */
export function beginsWithThought(messages: unknown): boolean {
  const said = Array.isArray(messages) ? messages.filter(isRecord) : []
  const content = said.findLast(({ role }) => role === 'assistant')?.['content']
  const types = Array.isArray(content) ? content.filter(isRecord).map(({ type }) => type) : []
  return !types.includes('tool_use') || types[0] === 'thinking' || types[0] === 'redacted_thinking'
}

/** The budget for thinking, below the output limit, for which the hold was taken. Null when too few tokens are left. */
function budgetOf({ effort, budgetTokens }: ReasoningWish, limit: number): number | null {
  const wanted = budgetTokens ?? Math.floor(limit * (budgetShares[effort ?? 'medium'] ?? 0.3))
  const budget = Math.min(Math.max(wanted, thinkingBudgetMin), limit - 1)
  return budget < thinkingBudgetMin ? null : budget
}

function writeOutput(writing: Writing, schema: JsonSchema): void {
  mergeInto(writing.body, 'output_config', { format: { type: 'json_schema', schema } })
}

function writeSampling(writing: Writing): void {
  const { body, model } = writing
  const { temperature, topP, topK } = writing.conversation.tuning
  const isThinking = body['thinking'] !== undefined && model.thinking === 'budget'
  const set = (carried: Carried, name: string, value: number | null) => {
    if (value === null) return
    // A thinking model takes no sampling members.
    if (model.sampling === 'none' || isThinking) writing.losses.drop(carried)
    else if (name === 'top_p' && temperature !== null && model.sampling === 'one_of')
      writing.losses.drop(carried)
    else body[name] = value
  }
  set('temperature', 'temperature', temperature === null ? null : Math.min(temperature, 1))
  set('topP', 'top_p', topP)
  set('topK', 'top_k', topK)
  if (temperature !== null && temperature > 1 && body['temperature'] !== undefined)
    writing.losses.approximate('temperature')
}

function writeRest(writing: Writing): void {
  const { conversation, quirks, body } = writing
  const { tuning, stop, userId, cache } = conversation
  if (stop.length > 0) body['stop_sequences'] = stop
  if (userId !== null && quirks.hasMetadata) mergeInto(body, 'metadata', { user_id: userId })
  else if (userId !== null) writing.losses.drop('userId')
  if (cache !== undefined && quirks.hasCacheMarks) body['cache_control'] = writeCacheMark(cache)
  else if (cache !== undefined) writing.losses.drop('cache')
  if (tuning.serviceTier !== null && conversation.format === 'messages')
    body['service_tier'] = tuning.serviceTier
  else if (tuning.serviceTier !== null && !['auto', 'default'].includes(tuning.serviceTier))
    writing.losses.drop('serviceTier')
  const lost = [
    'minP',
    'seed',
    'presencePenalty',
    'frequencyPenalty',
    'repetitionPenalty',
    'logitBias',
    'verbosity',
    'cacheKey',
  ] as const
  for (const name of lost) if (tuning[name] !== null) writing.losses.drop(name)
  if (conversation.metadata !== null) writing.losses.drop('metadata')
}

function mergeInto(body: Wire, name: string, members: Wire): void {
  body[name] = { ...(body[name] as Wire | undefined), ...members }
}
