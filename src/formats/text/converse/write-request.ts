import { knownNameOf, type Endpoint } from '../../../canonical/endpoint.ts'
import type { Conversation, ReasoningWish, Tool, ToolChoice } from '../../../canonical/text/conversation.ts'
import { fieldError } from '../../../core/errors.ts'
import { effortOf } from '../conversation-reading.ts'
import { typeNameOf } from '../../../json/values.ts'
import type { EncodedRequest, RequestTarget } from '../halves.ts'
import { type Carried, leaveOwnMembers, Losses, nameOf, refuseTool } from '../member-names.ts'
import { closedSchemaOf, type JsonSchema } from '../output/json-schema.ts'
import { tellOutput } from '../output/promised-output.ts'
import { tierToSend } from '../../service-tier.ts'
import type { ConverseModel, ConverseQuirks } from './quirks.ts'
import { cachePointOf, writeTurns, type ConverseTurns } from './write-turns.ts'

/** Fewest tokens that Claude thinks with. */
const thinkingBudgetMin = 1_024

type Wire = Record<string, unknown>

/** The state of writing a request: its body, the fields of the model's own, and the list of losses for the caller. */
interface Writing {
  conversation: Conversation
  endpoint: Endpoint
  model: ConverseModel
  body: Wire
  own: Wire
  losses: Losses
}

/** Writes a conversation as a body for Converse. Throws `invalid_request` for a part that must not be left out. */
export function* writeConverseRequest(
  conversation: Conversation,
  { endpoint, quirks }: RequestTarget<ConverseQuirks>,
): Generator<void, EncodedRequest> {
  const model = quirks.modelOf(knownNameOf(endpoint))
  refuseWhatIsMissing(conversation, model)
  const left = leaveOwnMembers(conversation, 'converse')
  const losses = new Losses(conversation)
  const turns = yield* writeTurns(conversation, { model, losses })
  const held = heldOutputOf(conversation, model)
  const told = held === null ? tellOutput(conversation.output, nameOf('output', conversation)) : null
  if (told !== null) {
    losses.approximate('output')
    tell(told.instruction, turns, model)
  }
  if (conversation.cache !== undefined) markWhole(conversation, turns, { model, losses })
  const { system, messages } = turns
  const body: Wire = { messages, ...(system.length > 0 ? { system } : {}) }
  const writing: Writing = { conversation, endpoint, model, body, own: {}, losses }
  writeTools(writing, messages)
  const limit = conversation.outputTokensMax ?? endpoint.outputTokensMax ?? model.outputTokensMax
  writeReasoning(writing, { limit, messages })
  writeSampling(writing)
  if (held !== null) body['outputConfig'] = outputOf(conversation, held)
  writeRest(writing)
  if (Object.keys(writing.own).length > 0) body['additionalModelRequestFields'] = writing.own
  yield
  return {
    body: [JSON.stringify(body)],
    ...(conversation.stream ? { headers: { accept: 'application/vnd.amazon.eventstream' } } : {}),
    dropped: [...left, ...losses.dropped],
    approximated: [...losses.approximated],
    ...(told === null ? {} : { promised: told.promised }),
  }
}

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolSpecification.html */
const toolName = /^[a-zA-Z0-9_-]{1,64}$/

/** Throws for options that change the answer and have no place in the format. */
function refuseWhatIsMissing(conversation: Conversation, { hasTools }: ConverseModel): void {
  const cannot = (carried: Carried) =>
    fieldError(
      nameOf(carried, conversation),
      'cannot be sent to the chosen provider. Leave it out or choose another model.',
    )
  if (conversation.choices > 1) throw cannot('choices')
  if (conversation.logprobs !== null) throw cannot('logprobs')
  for (const [index, tool] of conversation.tools.entries()) {
    if (tool.kind === 'function' && !toolName.test(tool.name))
      throw fieldError(
        `${nameOf('tools', conversation)}[${index}]`,
        `has a name of more than 64 characters, or with others than letters, digits, "_" and "-", which the chosen provider does not take.`,
      )
    if (tool.kind === 'custom') throw refuseTool(conversation, `the custom tool "${tool.name}"`)
    if (tool.kind === 'provider') throw refuseTool(conversation, `"${typeNameOf(tool.value)}"`)
    if (!hasTools) throw refuseTool(conversation, `the tool "${tool.name}"`)
  }
}

/** The schema that the provider itself enforces; null when it does not. */
function heldOutputOf({ output }: Conversation, { hasSchema }: ConverseModel): JsonSchema | null {
  if (output.kind !== 'schema' || output.schema === null || !hasSchema) return null
  return closedSchemaOf(output.schema)
}

function outputOf({ output }: Conversation, schema: JsonSchema): Wire {
  const { name, description } = output.kind === 'schema' ? output : { name: 'answer', description: null }
  const jsonSchema = {
    name,
    ...(description === null ? {} : { description }),
    schema: JSON.stringify(schema),
  }
  return { textFormat: { type: 'json_schema', structure: { jsonSchema } } }
}

function tell(text: string, { system, messages }: ConverseTurns, { hasSystem }: ConverseModel): void {
  const last = messages.at(-1)
  if (hasSystem) system.push({ text })
  else if (last?.role === 'user') last.content.push({ text })
  else messages.push({ role: 'user', content: [{ text }] })
}

/** A mark of the whole prompt is a point at its end, where the last part may have one of its own. */
function markWhole(
  { cache }: Conversation,
  { messages }: ConverseTurns,
  writing: { model: ConverseModel; losses: Losses },
): void {
  const last = messages.at(-1)?.content
  if (cache === undefined || last?.at(-1)?.['cachePoint'] !== undefined) return
  last?.push(...cachePointOf(cache, writing, 'cache'))
}

function writeTools(writing: Writing, messages: ConverseTurns['messages']): void {
  const { conversation, model, body, losses } = writing
  const { toolChoice, isParallel } = conversation
  const tools = conversation.tools.filter((tool): tool is Tool => tool.kind === 'function')
  if (isParallel === false) losses.drop('isParallel')
  const isNone = toolChoice?.kind === 'none'
  const called = namesOfCalls(messages)
  if (isNone && called.size === 0) return
  const allowed = toolChoice?.kind === 'allowed' ? new Set(toolChoice.names) : null
  const written = tools
    .filter(({ name }) => allowed === null || allowed.has(name))
    .flatMap((tool) => [writeTool(tool), ...toolCacheOf(tool, writing)])
  // A conversation with calls must have tools, even where the caller offers none any more.
  if (written.length === 0) for (const name of called) written.push(toolNamed(name))
  if (written.length === 0) return
  if (isNone) losses.drop('toolChoice')
  const choice = toolChoice === null || isNone ? null : choiceOf(toolChoice, model, losses)
  body['toolConfig'] = { tools: written, ...(choice === null ? {} : { toolChoice: choice }) }
}

/** Nova takes points in instructions and in messages, and refuses them among tools. */
function toolCacheOf({ cache }: Tool, writing: Writing): Wire[] {
  if (cache === undefined) return []
  if (writing.model.hasToolCachePoints) return cachePointOf(cache, writing, 'toolCache')
  writing.losses.drop('toolCache')
  return []
}

function writeTool({ name, description, parameters, strict }: Tool): Wire {
  return {
    toolSpec: {
      name,
      ...(description === null || description === '' ? {} : { description }),
      inputSchema: { json: { type: 'object', properties: {}, ...parameters } },
      ...(strict === true ? { strict: true } : {}),
    },
  }
}

function toolNamed(name: string): Wire {
  return { toolSpec: { name, inputSchema: { json: { type: 'object', properties: {} } } } }
}

function namesOfCalls(messages: ConverseTurns['messages']): Set<string> {
  const names = new Set<string>()
  for (const { content } of messages)
    for (const { toolUse } of content)
      if (toolUse !== undefined) names.add((toolUse as { name: string }).name)
  return names
}

function choiceOf(choice: ToolChoice, { hasToolChoice }: ConverseModel, losses: Losses): Wire | null {
  const isFree = choice.kind === 'auto' || (choice.kind === 'allowed' && choice.mode === 'auto')
  if (isFree) return { auto: {} }
  if (!hasToolChoice) {
    losses.drop('toolChoice')
    return null
  }
  return choice.kind === 'named' ? { tool: { name: choice.name } } : { any: {} }
}

const budgetShares: Readonly<Record<string, number>> = {
  minimal: 0.02,
  low: 0.1,
  medium: 0.3,
  high: 0.6,
  xhigh: 0.9,
  max: 0.95,
}

/** Claude's lowest effort is `low`. */
const claudeEfforts: Readonly<Record<string, string>> = { minimal: 'low' }
/** Nova has three levels. With the highest it refuses a limit of the output, and sampling. */
const novaEfforts: Readonly<Record<string, string>> = { minimal: 'low', xhigh: 'high', max: 'high' }

function writeReasoning(
  writing: Writing,
  { limit, messages }: { limit: number; messages: ConverseTurns['messages'] },
): void {
  const { conversation, model, own, losses } = writing
  const { reasoning, toolChoice } = conversation
  if (reasoning === null) return
  if (reasoning.effort === 'none') {
    if (model.thinking === 'adaptive' || model.thinking === 'budget') own['thinking'] = { type: 'disabled' }
    else if (model.thinking === 'effort') own['reasoningConfig'] = { type: 'disabled' }
    return
  }
  // The provider refuses thinking together with a forced tool.
  const isForced = toolChoice?.kind === 'required' || toolChoice?.kind === 'named'
  const isInterrupted = model.thinking === 'budget' && !beginsWithThought(messages)
  if (isForced || isInterrupted || model.thinking === 'none') return losses.drop('reasoning')
  if (model.thinking === 'effort') return writeLevel(reasoning, writing)
  if (model.thinking === 'adaptive') {
    own['thinking'] = { type: 'adaptive' }
    if (reasoning.budgetTokens !== null) losses.drop('budget')
    if (model.hasEffort && reasoning.effort !== null)
      own['output_config'] = { effort: claudeEfforts[reasoning.effort] ?? reasoning.effort }
    return
  }
  const budget = budgetOf(reasoning, limit)
  if (budget === null) return losses.drop('reasoning')
  own['thinking'] = { type: 'enabled', budget_tokens: budget }
  if (reasoning.budgetTokens !== null && reasoning.budgetTokens !== budget) losses.approximate('budget')
}

/** Claude with a budget refuses to think on after calls that have no thought before them. */
function beginsWithThought(messages: ConverseTurns['messages']): boolean {
  const content = messages.findLast(({ role }) => role === 'assistant')?.content ?? []
  return content.every(({ toolUse }) => toolUse === undefined) || 'reasoningContent' in (content[0] ?? {})
}

function writeLevel({ effort, budgetTokens }: ReasoningWish, { conversation, own, losses }: Writing): void {
  const wanted = effort ?? (budgetTokens === null ? 'medium' : effortOf(budgetTokens))
  const nearest = novaEfforts[wanted] ?? wanted
  const level = nearest === 'high' && conversation.outputTokensMax !== null ? 'medium' : nearest
  own['reasoningConfig'] = { type: 'enabled', maxReasoningEffort: level }
  if (level !== wanted) losses.approximate('reasoning')
  if (budgetTokens !== null) losses.approximate('budget')
}

/** The budget for thinking, below the output limit, for which the hold was taken. Null when too few tokens are left. */
function budgetOf({ effort, budgetTokens }: ReasoningWish, limit: number): number | null {
  const wanted = budgetTokens ?? Math.floor(limit * (budgetShares[effort ?? 'medium'] ?? 0.3))
  const budget = Math.min(Math.max(wanted, thinkingBudgetMin), limit - 1)
  return budget < thinkingBudgetMin ? null : budget
}

function writeSampling({ conversation, model, body, own, losses }: Writing): void {
  const { tuning, outputTokensMax, stop } = conversation
  const { temperature, topP, topK } = tuning
  const isThinking = own['thinking'] !== undefined && model.thinking === 'budget'
  const { maxReasoningEffort: level } = (own['reasoningConfig'] ?? {}) as { maxReasoningEffort?: string }
  const takesNone = model.sampling === 'none' || isThinking || level === 'high'
  const config: Wire = {}
  if (outputTokensMax !== null) config['maxTokens'] = outputTokensMax
  if (stop.length > 0) config['stopSequences'] = stop
  if (temperature !== null && takesNone) losses.drop('temperature')
  else if (temperature !== null) {
    config['temperature'] = Math.min(temperature, 1)
    if (temperature > 1) losses.approximate('temperature')
  }
  const isSecond = model.sampling === 'one_of' && temperature !== null
  if (topP !== null && (takesNone || isSecond)) losses.drop('topP')
  else if (topP !== null) config['topP'] = topP
  if (topK !== null && (takesNone || model.topK === null)) losses.drop('topK')
  else if (topK !== null && model.topK !== null) setAt(own, model.topK, topK)
  if (Object.keys(config).length > 0) body['inferenceConfig'] = config
}

function setAt(object: Wire, path: readonly string[], value: unknown): void {
  const [name = '', ...rest] = path
  if (rest.length === 0) object[name] = value
  else {
    const inner = { ...(object[name] as Wire | undefined) }
    setAt(inner, rest, value)
    object[name] = inner
  }
}

function writeRest({ conversation, endpoint, body, losses }: Writing): void {
  const { tuning, metadata, userId } = conversation
  const tier = tierToSend(tuning.serviceTier, ['default'], endpoint)
  if (tier !== null) body['serviceTier'] = { type: tier }
  else if (tuning.serviceTier !== null && tuning.serviceTier !== 'auto') losses.drop('serviceTier')
  if (metadata !== null && isPlainMetadata(metadata)) body['requestMetadata'] = metadata
  else if (metadata !== null) losses.drop('metadata')
  if (userId !== null) losses.drop('userId')
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
  for (const name of lost) if (tuning[name] !== null) losses.drop(name)
}

/** Names and values of metadata go to the account's own log of calls, which takes at most 16, and few characters. */
function isPlainMetadata(metadata: Readonly<Record<string, string>>): boolean {
  const entries = Object.entries(metadata)
  return (
    entries.length <= 16 &&
    entries.every(([name, value]) => metadataName.test(name) && metadataValue.test(value))
  )
}

const metadataName = /^[a-zA-Z0-9\s:_@$#=/+,-.]{1,256}$/
const metadataValue = /^[a-zA-Z0-9\s:_@$#=/+,-.]{0,256}$/
