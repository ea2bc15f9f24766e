import type {
  Conversation,
  OutputFormat,
  ProviderTool,
  ReasoningWish,
  Tool,
  ToolChoice,
} from '../../../canonical/text/conversation.ts'
import { knownNameOf, type Endpoint } from '../../../canonical/endpoint.ts'
import type { EncodedRequest, RequestTarget } from '../halves.ts'
import { effortOf } from '../conversation-reading.ts'
import { isRecord, typeNameOf } from '../../../json/values.ts'
import { fieldError } from '../../../core/errors.ts'
import { isStrictSchema } from '../output/json-schema.ts'
import { type Carried, leaveOwnMembers, Losses, nameOf } from '../member-names.ts'
import { tellOutput } from '../output/promised-output.ts'
import { tierToSend } from '../../service-tier.ts'
import { writeInput } from './write-turns.ts'
import type { ResponsesModel, ResponsesQuirks } from './quirks.ts'

type Wire = Record<string, unknown>

/** The state of writing a request: its body, and the list of losses for the caller. */
interface Writing {
  conversation: Conversation
  endpoint: Endpoint
  model: ResponsesModel
  hasSampling: boolean
  quirks: ResponsesQuirks
  body: Wire
  losses: Losses
}

/**
 * Writes a conversation as a body for OpenAI's responses. Throws `invalid_request` for a part that must not be left
 * out.
 */
export function* writeResponsesRequest(
  conversation: Conversation,
  { endpoint, quirks }: RequestTarget<ResponsesQuirks>,
): Generator<void, EncodedRequest> {
  const model = quirks.modelOf(knownNameOf(endpoint))
  // When a messages caller wants no thinking, the effort is left out, because some models refuse `none`.
  const effort = conversation.format === 'messages' ? null : conversation.reasoning?.effort
  const hasSampling = takesSampling(model, effort)
  refuseWhatIsMissing(conversation, hasSampling)
  const left = leaveOwnMembers(conversation, 'responses')
  const losses = new Losses(conversation)
  const { instructions, input } = yield* writeInput(conversation, { quirks, losses })
  const told = isLoose(conversation) ? tellOutput(conversation.output, nameOf('output', conversation)) : null
  if (told !== null) losses.approximate('output')
  const body: Wire = {
    model: endpoint.upstreamModel,
    ...(instructions === null ? {} : { instructions }),
    input,
    // Nothing is stored anywhere: the caller sends the whole conversation.
    store: false,
    ...(conversation.stream ? { stream: true } : {}),
  }
  const writing: Writing = { conversation, endpoint, model, hasSampling, quirks, body, losses }
  writeLimit(writing)
  writeTools(writing)
  writeReasoning(writing)
  writeText(writing, told !== null)
  writeSampling(writing)
  writeRest(writing)
  yield
  return {
    body: [JSON.stringify({ ...body, ...conversation.extras?.responses })],
    dropped: [...new Set([...left, ...losses.dropped])],
    approximated: [...losses.approximated],
    ...(told === null ? {} : { promised: told.promised }),
  }
}

/** Whether a model takes `temperature` and the other sampling members in a call with this effort. */
export function takesSampling({ sampling }: ResponsesModel, effort: unknown): boolean {
  return sampling === 'always' || (sampling === 'unthinking' && effort === 'none')
}

/** Throws for options that change the answer and have no place in the format. */
function refuseWhatIsMissing(conversation: Conversation, hasSampling: boolean): void {
  const cannot = (carried: Carried) =>
    fieldError(
      nameOf(carried, conversation),
      'cannot be sent to the chosen provider. Leave it out or choose another model.',
    )
  if (conversation.choices > 1) throw cannot('choices')
  if (conversation.stop.length > 0) throw cannot('stop')
  if (conversation.logprobs !== null && !hasSampling) throw cannot('logprobs')
  for (const tool of conversation.tools) {
    if (tool.kind !== 'provider' || tool.format === 'responses') continue
    throw fieldError(
      nameOf('tools', conversation),
      `has "${typeNameOf(tool.value)}", which only its own provider runs. Leave it out or choose another model.`,
    )
  }
}

/** Clients ask for one token to test a key, so a limit below the provider's least is raised to it. */
function writeLimit({ conversation: { outputTokensMax }, quirks, body, losses }: Writing): void {
  if (outputTokensMax === null) return
  if (outputTokensMax < quirks.outputTokensMin) losses.approximate('outputTokensMax')
  body['max_output_tokens'] = Math.max(outputTokensMax, quirks.outputTokensMin)
}

/** Anthropic enforces every schema exactly; OpenAI only a schema that leaves nothing open. */
function isLoose({ output, format }: Conversation): boolean {
  return (
    format === 'messages' &&
    output.kind === 'schema' &&
    output.schema !== null &&
    !isStrictSchema(output.schema)
  )
}

function writeTools({ conversation, body, losses }: Writing): void {
  const { tools, toolChoice, isParallel } = conversation
  if (tools.length === 0) return
  if (tools.some((tool) => tool.kind !== 'provider' && tool.cache !== undefined)) losses.drop('toolCache')
  body['tools'] = tools.map((tool) => writeTool(tool, conversation))
  if (toolChoice !== null) body['tool_choice'] = writeToolChoice(toolChoice, tools)
  if (isParallel !== null) body['parallel_tool_calls'] = isParallel
}

function writeTool(tool: Tool | ProviderTool, { format: caller }: Conversation): Wire {
  if (tool.kind === 'provider') return { ...tool.value }
  const { kind, name, description, parameters, strict, format = null, extras } = tool
  const named = { type: kind, name, ...(description === null ? {} : { description }) }
  if (kind === 'custom')
    return {
      ...named,
      ...(format === null ? {} : { format: writeInputFormat(format) }),
      ...extras?.responses,
    }
  // Strict mode is the default of this format; in other formats callers ask for it.
  const mode = strict ?? (caller === 'responses' ? null : false)
  return {
    ...named,
    parameters: parameters ?? { type: 'object', properties: {} },
    ...(mode === null ? {} : { strict: mode }),
    ...extras?.responses,
  }
}

/** A grammar's members are flat here; chat completions has them in an object. */
function writeInputFormat(format: Readonly<Record<string, unknown>>): Wire {
  const { grammar, ...rest } = format
  return isRecord(grammar) ? { ...rest, ...grammar } : { ...format }
}

function writeToolChoice(choice: ToolChoice, tools: Conversation['tools']): unknown {
  if (choice.kind === 'named') return { type: choice.tool, name: choice.name }
  if (choice.kind !== 'allowed') return choice.kind
  const kinds = new Map<string, string>()
  for (const tool of tools)
    if (tool.kind !== 'provider' && !kinds.has(tool.name)) kinds.set(tool.name, tool.kind)
  const allowed = choice.names.map((name) => ({ type: kinds.get(name) ?? 'function', name }))
  return { type: 'allowed_tools', mode: choice.mode, tools: allowed }
}

function writeReasoning(writing: Writing): void {
  const { conversation, model, quirks, body, losses } = writing
  const wish = conversation.reasoning
  if (model.reasons && quirks.sealsThoughts) include(body, sealedThoughts)
  if (wish === null) return
  if (!model.reasons) {
    if (wish.effort !== 'none') losses.drop('reasoning')
    return
  }
  const reasoning = writeWish(wish, writing)
  if (Object.keys(reasoning).length > 0) body['reasoning'] = reasoning
}

/** Asks a provider that stores nothing for sealed thoughts, which clients can send back. */
export const sealedThoughts = 'reasoning.encrypted_content'

/**
 * The effort `none` goes out only for callers of OpenAI's formats, who know the model's own options: a model that
 * cannot think does not think anyway, and would refuse it.
 */
function writeWish(wish: ReasoningWish, { conversation: { format }, losses }: Writing): Wire {
  const { budgetTokens, summary, isShown } = wish
  if (wish.effort === 'none' && format === 'messages') return {}
  if (budgetTokens !== null) losses.approximate('budget')
  const effort = wish.effort ?? (budgetTokens === null ? null : effortOf(budgetTokens))
  // Other formats show thoughts to every caller that asked for thinking; this one shows only a summary that was asked
  // for.
  const shown = summary ?? (format === 'responses' ? null : 'auto')
  const told = isShown && effort !== 'none' ? shown : null
  return { ...(effort === null ? {} : { effort }), ...(told === null ? {} : { summary: told }) }
}

function writeText({ conversation, quirks, body, losses }: Writing, isChecked: boolean): void {
  const { output, tuning, format } = conversation
  const text: Wire = {}
  if (output.kind !== 'text') text['format'] = writeFormat(output, isChecked)
  if (tuning.verbosity !== null && (quirks.hasOpenAiMembers || format === 'responses'))
    text['verbosity'] = tuning.verbosity
  else if (tuning.verbosity !== null) losses.drop('verbosity')
  if (Object.keys(text).length > 0) body['text'] = text
}

/** A schema that the provider would refuse in strict mode is sent without it; the gateway then checks the answer. */
function writeFormat(output: Exclude<OutputFormat, { kind: 'text' }>, isChecked: boolean): Wire {
  if (output.kind === 'json') return { type: 'json_object' }
  const { name, description, schema, strict } = output
  return {
    type: 'json_schema',
    name,
    ...(description === null ? {} : { description }),
    schema: schema ?? { type: 'object' },
    ...(strict === null ? {} : { strict: strict && !isChecked }),
  }
}

function writeSampling({ conversation, hasSampling, body, losses }: Writing): void {
  const { tuning, logprobs } = conversation
  for (const [carried, name] of [
    ['temperature', 'temperature'],
    ['topP', 'top_p'],
  ] as const) {
    const value = tuning[carried]
    if (value === null) continue
    if (hasSampling) body[name] = value
    else losses.drop(carried)
  }
  if (logprobs === null) return
  include(body, 'message.output_text.logprobs')
  if (logprobs > 0) body['top_logprobs'] = logprobs
}

function writeRest({ conversation, endpoint, quirks, body, losses }: Writing): void {
  const { tuning, userId, metadata, cache } = conversation
  const { serviceTier, cacheKey } = tuning
  if (userId !== null && [...userId].length <= quirks.userLengthMax) body['user'] = userId
  else if (userId !== null) losses.drop('userId')
  if (metadata !== null && quirks.hasOpenAiMembers) body['metadata'] = metadata
  else if (metadata !== null) losses.drop('metadata')
  if (cacheKey !== null && quirks.hasOpenAiMembers) body['prompt_cache_key'] = cacheKey
  else if (cacheKey !== null) losses.drop('cacheKey')
  const tier = tierToSend(serviceTier, quirks.serviceTiers, endpoint)
  if (tier !== null) body['service_tier'] = tier
  else if (serviceTier !== null && !isDefaultTier(serviceTier)) losses.drop('serviceTier')
  if (cache !== undefined) losses.drop('cache')
  const lost = [
    'topK',
    'minP',
    'seed',
    'presencePenalty',
    'frequencyPenalty',
    'repetitionPenalty',
    'logitBias',
  ] as const
  for (const name of lost) if (tuning[name] !== null) losses.drop(name)
}

/** Other tiers have other prices, which endpoints do not list, so the call would be billed wrongly. */
export function isDefaultTier(tier: unknown): boolean {
  return tier === 'auto' || tier === 'default'
}

function include(body: Wire, what: string): void {
  const included = body['include']
  body['include'] = [...(Array.isArray(included) ? included : []), what]
}
