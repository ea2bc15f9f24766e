import * as check from './checks.ts'
import { type ChatMessage, parseMessages, promptTokens } from './chat-messages.ts'
import { type ApiError, invalidRequest } from './errors.ts'
import type { Faults } from './faults.ts'
import { isObject, type JsonObject } from './json.ts'
import { findModel, type Model } from './models.ts'
import type { OfferedTool, ToolChoice } from './prompt.ts'

/** A chat request that has passed every check. */
export interface ChatRequest {
  model: Model
  messages: ChatMessage[]
  promptTokens: number
  stream: boolean
  includeUsage: boolean
  includeObfuscation: boolean
  /** The caller's limit of output tokens, or the model's. */
  outputTokensMax: number
  choices: number
  stop: string[]
  logprobs: boolean
  topLogprobs: number
  tools: OfferedTool[]
  toolChoice: ToolChoice
  parallelToolCalls: boolean
  /** The schema of a wanted JSON answer; an empty one for any object; null for text. */
  answerSchema: JsonObject | null
  effort: string
}

const toolName = /^[a-zA-Z0-9_-]{1,64}$/
const named = check.members({ name: check.string() }, ['name'])
const toolFields = {
  type: check.oneOf('function', 'custom'),
  function: check.members(
    { name: check.string(), description: check.string(), parameters: check.object, strict: check.boolean },
    ['name'],
  ),
  custom: check.object,
}
const choiceFields = { type: check.string(), function: named, custom: named, allowed_tools: check.object }
const jsonSchemaFields = {
  name: check.string(64),
  description: check.string(),
  schema: check.object,
  strict: check.boolean,
}

/** Every top-level member that OpenAI documents, with a check of its value. */
const fields: Record<string, check.Check> = {
  model: check.string(),
  messages: check.listOf(check.object),
  max_tokens: check.integer(1),
  max_completion_tokens: check.integer(1),
  temperature: check.decimal(0, 2),
  top_p: check.decimal(0, 1),
  frequency_penalty: check.decimal(-2, 2),
  presence_penalty: check.decimal(-2, 2),
  n: check.integer(1, 128),
  stop: check.either(check.string(), check.listOf(check.string(), 4)),
  seed: check.integer(Number.MIN_SAFE_INTEGER),
  logit_bias: check.object,
  logprobs: check.boolean,
  top_logprobs: check.integer(0, 20),
  tools: check.listOf(check.members(toolFields, ['type']), 128),
  tool_choice: check.either(check.members(choiceFields, ['type']), check.oneOf('none', 'auto', 'required')),
  parallel_tool_calls: check.boolean,
  response_format: check.members(
    {
      type: check.oneOf('text', 'json_object', 'json_schema'),
      json_schema: check.members(jsonSchemaFields, ['name']),
    },
    ['type'],
  ),
  reasoning_effort: check.oneOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
  verbosity: check.oneOf('low', 'medium', 'high'),
  stream: check.boolean,
  stream_options: check.members({ include_usage: check.boolean, include_obfuscation: check.boolean }),
  modalities: check.listOf(check.oneOf('text', 'audio')),
  audio: check.object,
  prediction: check.object,
  store: check.boolean,
  metadata: check.object,
  service_tier: check.oneOf('auto', 'default', 'flex', 'scale', 'priority'),
  moderation: check.object,
  web_search_options: check.object,
  prompt_cache_key: check.string(),
  prompt_cache_options: check.object,
  prompt_cache_retention: check.string(),
  safety_identifier: check.string(),
  user: check.string(),
  functions: check.listOf(check.object),
  function_call: check.either(check.members({ name: check.string() }), check.oneOf('none', 'auto')),
}

const samplingFields = ['temperature', 'top_p', 'frequency_penalty', 'presence_penalty']

/** Reads a chat request as strictly as OpenAI does; the faults may make it milder. Throws `ApiError`. */
export function parseChatRequest(body: JsonObject, faults: Faults): ChatRequest {
  const lenient = faults.lenient === true
  check.checkMembers(body, { fields, required: ['messages', 'model'], strict: !lenient })
  const model = findModel(body['model'], 'chat', faults.anyModel)
  refuseForModel(body, model)
  refuseCombinations(body)
  const streamOptions = isObject(body['stream_options']) ? body['stream_options'] : {}
  const tools = parseTools(body['tools'])
  const messages = parseMessages(body['messages'], lenient)
  const prompt = promptTokens(messages, [body['tools'], body['response_format']])
  refuseOverflow(prompt, model)
  return {
    model,
    messages,
    promptTokens: prompt,
    stream: body['stream'] === true,
    includeUsage: streamOptions['include_usage'] === true,
    includeObfuscation: streamOptions['include_obfuscation'] !== false,
    outputTokensMax: outputTokensMax(body, model),
    choices: numberOr(body['n'], 1),
    stop: typeof body['stop'] === 'string' ? [body['stop']] : strings(body['stop']),
    logprobs: body['logprobs'] === true,
    topLogprobs: numberOr(body['top_logprobs'], 0),
    tools,
    toolChoice: parseToolChoice(body['tool_choice'], tools),
    parallelToolCalls: body['parallel_tool_calls'] !== false,
    answerSchema: parseAnswerSchema(body),
    effort: typeof body['reasoning_effort'] === 'string' ? body['reasoning_effort'] : 'medium',
  }
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise
}

function strings(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : []
}

function unsupported(param: string, message: string, code: string): ApiError {
  return invalidRequest(message, param, code)
}

function refuseForModel(body: JsonObject, model: Model): void {
  if (model.reasoning !== true) return
  if (body['max_tokens'] !== undefined && body['max_tokens'] !== null) {
    const message =
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    throw unsupported('max_tokens', message, 'unsupported_parameter')
  }
  const takesSampling = model.samplesUnthinking === true && body['reasoning_effort'] === 'none'
  for (const name of samplingFields) {
    if (takesSampling && !name.endsWith('penalty')) continue
    const plain = name.endsWith('penalty') ? 0 : 1
    if (typeof body[name] !== 'number' || body[name] === plain) continue
    const message = `Unsupported value: '${name}' does not support ${body[name]} with this model. Only ${plain} is supported.`
    throw unsupported(name, message, 'unsupported_value')
  }
  for (const name of ['stop', 'logit_bias', ...(takesSampling ? [] : ['logprobs', 'top_logprobs'])]) {
    if (body[name] === undefined || body[name] === null || body[name] === false) continue
    throw unsupported(
      name,
      `Unsupported parameter: '${name}' is not supported with this model.`,
      'unsupported_parameter',
    )
  }
}

function refuseCombinations(body: JsonObject): void {
  if (isObject(body['stream_options']) && body['stream'] !== true) {
    throw invalidRequest("'stream_options' is only allowed when 'stream' is enabled.", 'stream_options')
  }
  if (typeof body['top_logprobs'] === 'number' && body['logprobs'] !== true) {
    throw invalidRequest("'top_logprobs' needs 'logprobs' to be true.", 'top_logprobs')
  }
  if (typeof body['max_tokens'] === 'number' && typeof body['max_completion_tokens'] === 'number') {
    throw invalidRequest("Set either 'max_tokens' or 'max_completion_tokens', not both.", 'max_tokens')
  }
  if (strings(body['modalities']).includes('audio')) {
    throw unsupported('modalities', 'This model does not answer with audio.', 'invalid_value')
  }
}

function refuseOverflow(tokens: number, model: Model): void {
  const most = model.contextTokens ?? Number.POSITIVE_INFINITY
  if (tokens <= most) return
  const message = `This model's maximum context length is ${most} tokens. The messages have ${tokens} tokens.`
  throw invalidRequest(message, 'messages', 'context_length_exceeded')
}

function outputTokensMax(body: JsonObject, model: Model): number {
  const most = model.outputTokensMax ?? Number.POSITIVE_INFINITY
  for (const name of ['max_completion_tokens', 'max_tokens']) {
    const asked = body[name]
    if (typeof asked !== 'number') continue
    if (asked <= most) return asked
    throw invalidRequest(
      `${name} is too large: ${asked}. This model gives at most ${most} tokens.`,
      name,
      'invalid_value',
    )
  }
  return most
}

function parseTools(value: unknown): OfferedTool[] {
  if (!Array.isArray(value)) return []
  if (value.length === 0) {
    throw invalidRequest("Invalid 'tools': at least one entry is expected.", 'tools', 'empty_array')
  }
  return value.map((tool: JsonObject, index) => parseTool(tool, `tools[${index}]`))
}

function parseTool(tool: JsonObject, param: string): OfferedTool {
  const definition = tool[tool['type'] === 'custom' ? 'custom' : 'function']
  if (!isObject(definition)) {
    const path = `${param}.${String(tool['type'])}`
    throw invalidRequest(`Missing required parameter: '${path}'.`, path, 'missing_required_parameter')
  }
  const { name, parameters } = definition
  if (typeof name !== 'string' || !toolName.test(name)) {
    const path = `${param}.function.name`
    const message = `Invalid '${path}': 1 to 64 letters, digits, dashes and underscores are expected.`
    throw invalidRequest(message, path, 'invalid_value')
  }
  if (isObject(parameters) && parameters['type'] !== undefined && parameters['type'] !== 'object') {
    const message = `Invalid schema for function '${name}': the schema must have type "object".`
    throw invalidRequest(message, `${param}.function.parameters`, 'invalid_function_parameters')
  }
  const isCustom = tool['type'] === 'custom'
  return { name, parameters: isObject(parameters) ? parameters : {}, isCustom }
}

function parseToolChoice(value: unknown, tools: readonly OfferedTool[]): ToolChoice {
  if (value === undefined || value === null) return tools.length > 0 ? 'auto' : 'none'
  if (tools.length === 0 && value !== 'none') {
    throw invalidRequest("'tool_choice' is only allowed when 'tools' are given.", 'tool_choice')
  }
  if (value === 'none' || value === 'auto' || value === 'required') return value
  const choice = isObject(value) ? value : {}
  if (isObject(choice['allowed_tools']))
    return choice['allowed_tools']['mode'] === 'required' ? 'required' : 'auto'
  const definition = choice['function'] ?? choice['custom']
  const name = isObject(definition) ? definition['name'] : undefined
  if (typeof name === 'string' && tools.some((tool) => tool.name === name)) return { name }
  throw invalidRequest(
    `Tool choice '${String(name)}' is not among the 'tools'.`,
    'tool_choice',
    'invalid_value',
  )
}

function parseAnswerSchema(body: JsonObject): JsonObject | null {
  const format = body['response_format']
  if (!isObject(format) || format['type'] === 'text') return null
  if (format['type'] === 'json_object') {
    if (/json/i.test(JSON.stringify(body['messages']))) return {}
    const message = "With response_format 'json_object' the word 'json' must appear in 'messages'."
    throw invalidRequest(message, 'messages')
  }
  const definition = format['json_schema']
  if (isObject(definition)) return isObject(definition['schema']) ? definition['schema'] : {}
  const param = 'response_format.json_schema'
  throw invalidRequest(`Missing required parameter: '${param}'.`, param, 'missing_required_parameter')
}
