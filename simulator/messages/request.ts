import * as check from '../checks.ts'
import { ApiError, invalidRequest } from '../errors.ts'
import type { Faults } from '../faults.ts'
import { isObject, type JsonObject } from '../json.ts'
import { type ClaudeModel, findModel, type Model } from '../models.ts'
import { type OfferedTool, thoughtTokensOf } from '../prompt.ts'
import { readAnswerSchema } from './answer-schema.ts'
import { type BlockRules, cacheControl, type ReadBlock, readContent } from './blocks.ts'
import { marksIn, type ReadMessage, readMessages } from './conversation.ts'
import type { ApiVersion } from './errors.ts'
import { readTools, readToolChoice, type ToolUse } from './tools.ts'

/** How thoughts are wanted. */
export interface Thinking {
  /** Tokens that the model thinks for; 0 when it is not to think. */
  tokens: number
  /** Thoughts are sent with their signature alone. */
  isOmitted: boolean
}

/** A Messages request that has passed every check. */
export interface MessagesRequest {
  model: Model
  system: ReadBlock[]
  messages: ReadMessage[]
  rawTools: JsonObject[]
  tools: OfferedTool[]
  toolUse: ToolUse
  maxTokens: number
  stop: string[]
  stream: boolean
  thinking: Thinking
  answerSchema: JsonObject | null
  /** The cache mark for the whole prompt. */
  cacheControl: JsonObject | null
  serviceTier: string
}

/** How a request is to be read. */
export interface ReadingRules {
  version: ApiVersion
  /** The request names beta features, which may bring members of their own. */
  isBeta: boolean
  /** The request is for `count_tokens`, which has only a prompt. */
  isCount: boolean
  faults: Faults
}

const effort = check.oneOf('low', 'medium', 'high', 'xhigh', 'max')
const display = check.oneOf('summarized', 'omitted')
const thinkingFields = {
  type: check.oneOf('adaptive', 'enabled', 'disabled', 'between_tools'),
  budget_tokens: check.integer(1024),
  display,
}
/** Members that concern the prompt. */
const promptFields: Record<string, check.Check> = {
  model: check.string(),
  messages: check.listOf(check.object),
  system: check.either(check.listOf(check.object), check.string()),
  thinking: check.members(thinkingFields, ['type']),
  output_config: check.members({ effort, format: check.object, task_budget: check.object }),
  tools: check.listOf(check.object),
  tool_choice: check.object,
  cache_control: cacheControl,
  speed: check.oneOf('standard', 'fast'),
}
/** Members that concern the answer. */
const answerFields: Record<string, check.Check> = {
  max_tokens: check.integer(0),
  stop_sequences: check.listOf(check.string()),
  stream: check.boolean,
  temperature: check.decimal(0, 1),
  top_p: check.decimal(0, 1),
  top_k: check.integer(0),
  metadata: check.members({ user_id: check.string(256) }),
  service_tier: check.oneOf('auto', 'standard_only'),
  inference_geo: check.string(),
  container: check.either(check.string(), check.object),
  diagnostics: check.object,
  user_profile_id: check.string(),
  workspace_id: check.string(),
}
const betaFields: Record<string, check.Check> = {
  mcp_servers: check.listOf(check.object),
  context_management: check.object,
  compaction: check.object,
  fallbacks: check.listOf(check.object),
  thread: check.object,
  output_format: check.object,
}

/** Reads a Messages request as strictly as Anthropic does. Throws `ApiError`. */
export function readMessagesRequest(body: JsonObject, rules: ReadingRules): MessagesRequest {
  const lenient = rules.faults.lenient === true
  const own = rules.isCount ? promptFields : { ...promptFields, ...answerFields }
  const fields = rules.isBeta ? { ...own, ...betaFields } : own
  const required = rules.isCount ? ['model', 'messages'] : ['model', 'messages', 'max_tokens']
  check.checkMembers(body, { fields, required, strict: !lenient })
  const model = servedModel(body['model'], rules.faults)
  const traits = model.claude ?? { displayName: model.id, adaptive: true }
  refuseSampling(body, traits, rules.version)
  const reading = { version: rules.version, lenient, sealer: rules.faults.sealer }
  const messages = readMessages(body['messages'], reading)
  const tools = readTools(body['tools'], lenient)
  const rawTools = Array.isArray(body['tools']) ? body['tools'].filter(isObject) : []
  const request: MessagesRequest = {
    model,
    system: readSystem(body['system'], reading),
    messages,
    rawTools,
    tools,
    toolUse: readToolChoice(body['tool_choice'], tools, rawTools.length > 0),
    maxTokens: maxTokens(body, model, rules.isCount),
    stop: Array.isArray(body['stop_sequences']) ? body['stop_sequences'].map(String) : [],
    stream: body['stream'] === true,
    thinking: readThinking(body, traits, rules.isCount),
    answerSchema: readFormat(body),
    cacheControl: isObject(body['cache_control']) ? body['cache_control'] : null,
    serviceTier: 'standard',
  }
  refuseMarks(body)
  refuseForcedThought(request)
  refuseLostThought(request, body)
  refusePrefill(messages, traits)
  return request
}

function servedModel(name: unknown, faults: Faults): Model {
  if (typeof name === 'string' && name === '')
    throw invalidRequest('String should have at least 1 character', 'model')
  try {
    return findModel(name, 'messages', faults.anyModel)
  } catch (error) {
    if (error instanceof ApiError && error.status === 404)
      throw new ApiError({ status: 404, message: `model: ${String(name)}` })
    throw error
  }
}

function readSystem(value: unknown, reading: Omit<BlockRules, 'role'>): ReadBlock[] {
  if (value === undefined || value === null || value === '') return []
  return readContent(value, 'system', { ...reading, role: 'system' })
}

function refuseSampling(body: JsonObject, traits: ClaudeModel, version: ApiVersion): void {
  const given = ['temperature', 'top_p', 'top_k'].filter((name) => body[name] !== undefined)
  const [name] = given
  if (name === undefined) return
  if (version !== '2023-06-01')
    throw invalidRequest(`'${name}' is not supported with anthropic-version ${version}.`, name)
  if (traits.adaptiveOnly === true) throw invalidRequest(`'${name}' is deprecated for this model.`, name)
  if (traits.oneSampling === true && given.includes('temperature') && given.includes('top_p'))
    throw invalidRequest(
      '`temperature` and `top_p` cannot both be specified for this model. Please use only one.',
    )
}

function maxTokens(body: JsonObject, model: Model, isCount: boolean): number {
  const most = model.outputTokensMax ?? Number.MAX_SAFE_INTEGER
  if (isCount) return most
  const asked = Number(body['max_tokens'])
  if (asked <= most) return asked
  const message = `${asked} > ${most}, which is the maximum allowed number of output tokens for ${model.id}`
  throw invalidRequest(message, 'max_tokens')
}

function readThinking(body: JsonObject, traits: ClaudeModel, isCount: boolean): Thinking {
  const thinking = isObject(body['thinking']) ? body['thinking'] : { type: 'disabled' }
  const { type, budget_tokens: budget } = thinking
  const isOmitted = thinking['display'] === 'omitted'
  if (type === 'enabled') {
    if (traits.adaptiveOnly === true)
      throw invalidRequest(
        '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
      )
    if (typeof budget !== 'number') throw invalidRequest('Field required', 'thinking.enabled.budget_tokens')
    if (!isCount && budget >= Number(body['max_tokens']))
      throw invalidRequest('`max_tokens` must be greater than `thinking.budget_tokens`.')
    refuseThinkingSampling(body)
    return { tokens: 16, isOmitted }
  }
  if (budget !== undefined)
    throw invalidRequest('Extra inputs are not permitted', `thinking.${String(type)}.budget_tokens`)
  if (type !== 'adaptive' && type !== 'between_tools') return { tokens: 0, isOmitted }
  if (traits.adaptive !== true) throw invalidRequest('adaptive thinking is not supported on this model')
  const config = isObject(body['output_config']) ? body['output_config'] : {}
  return { tokens: thoughtTokensOf(String(config['effort'] ?? 'high')), isOmitted }
}

function refuseThinkingSampling(body: JsonObject): void {
  const { temperature, top_k: topK } = body
  if (temperature !== undefined && temperature !== 1)
    throw invalidRequest('`temperature` may only be set to 1 when thinking is enabled.')
  if (topK !== undefined) throw invalidRequest('`top_k` must be unset when thinking is enabled.')
}

function readFormat(body: JsonObject): JsonObject | null {
  const config = isObject(body['output_config']) ? body['output_config'] : {}
  return (
    readAnswerSchema(config['format'], 'output_config.format') ??
    readAnswerSchema(body['output_format'], 'output_format')
  )
}

const marksMax = 4

/** At most four marks, and the long-lived ones first: a longer lifetime cannot follow a shorter one. */
function refuseMarks(body: JsonObject): void {
  const messages = Array.isArray(body['messages']) ? body['messages'].filter(isObject) : []
  const contents = messages.map((message) => message['content'])
  const marks = [body['tools'], body['system'], ...contents].flatMap(marksIn)
  if (isObject(body['cache_control'])) marks.push(body['cache_control'])
  if (marks.length > marksMax)
    throw invalidRequest(
      `A maximum of ${marksMax} blocks with cache_control may be provided. Found ${marks.length}.`,
    )
  const firstShort = marks.findIndex((mark) => mark['ttl'] !== '1h')
  if (firstShort >= 0 && marks.slice(firstShort).some((mark) => mark['ttl'] === '1h'))
    throw invalidRequest("a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block.")
}

function refuseForcedThought({ thinking, toolUse }: MessagesRequest): void {
  const isForced = toolUse.toolChoice === 'required' || typeof toolUse.toolChoice === 'object'
  if (thinking.tokens > 0 && isForced)
    throw invalidRequest('Thinking may not be enabled when tool_choice forces tool use.')
}

/** With a thinking budget, a turn that continues after a tool's result must begin with its earlier thoughts. */
function refuseLostThought({ messages }: MessagesRequest, body: JsonObject): void {
  if (!isObject(body['thinking']) || body['thinking']['type'] !== 'enabled') return
  const at = messages.findLastIndex((message) => message.role === 'assistant')
  const [first] = messages[at]?.blocks ?? []
  const isInLoop = messages[at]?.blocks.some((block) => block.type === 'tool_use') === true
  if (!isInLoop || first === undefined || first.type.endsWith('thinking')) return
  const message = `Expected \`thinking\` or \`redacted_thinking\`, but found \`${first.type}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block.`
  throw invalidRequest(message, `messages[${at}].content[0].type`)
}

/** A final message of the assistant is the beginning of the answer; newer models refuse it. */
function refusePrefill(messages: readonly ReadMessage[], traits: ClaudeModel): void {
  const last = messages.at(-1)
  if (last?.role !== 'assistant') return
  if (traits.adaptiveOnly === true)
    throw invalidRequest(
      'This model does not support assistant message prefill. The conversation must end with a user message.',
    )
  const text = last.blocks.at(-1)?.text ?? ''
  if (text !== text.trimEnd())
    throw invalidRequest('final assistant content cannot end with trailing whitespace', 'messages')
}
