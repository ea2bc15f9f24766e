import * as check from '../checks.ts'
import { invalidRequest } from '../errors.ts'
import type { Faults } from '../faults.ts'
import { isObject, type JsonObject } from '../json.ts'
import { findModel, type Model } from '../models.ts'
import type { OfferedTool, ToolChoice } from '../prompt.ts'
import { countTokens } from '../tokens.ts'
import { type ReadItem, readItems } from './items.ts'
import type { StoredResponses } from './stored.ts'
import { readTools, readToolChoice, strictFault } from './tools.ts'

/** A Responses request that has passed every check. */
export interface ResponsesRequest {
  model: Model
  items: ReadItem[]
  inputTokens: number
  tools: OfferedTool[]
  toolChoice: ToolChoice
  parallelToolCalls: boolean
  outputTokensMax: number
  stream: boolean
  includeObfuscation: boolean
  store: boolean
  effort: string
  /** The answer has a summary of the thoughts. */
  hasSummary: boolean
  hasEncryptedThoughts: boolean
  hasLogprobs: boolean
  topLogprobs: number
  answerSchema: JsonObject | null
}

const includable = [
  'file_search_call.results',
  'web_search_call.results',
  'web_search_call.action.sources',
  'message.input_image.image_url',
  'computer_call_output.output.image_url',
  'code_interpreter_call.outputs',
  'reasoning.encrypted_content',
  'message.output_text.logprobs',
]
const formatFields = {
  type: check.oneOf('text', 'json_object', 'json_schema'),
  name: check.string(64),
  schema: check.object,
  strict: check.boolean,
  description: check.string(),
}
const reasoningFields = {
  effort: check.oneOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
  summary: check.oneOf('auto', 'concise', 'detailed'),
  generate_summary: check.oneOf('auto', 'concise', 'detailed'),
  mode: check.oneOf('standard', 'pro'),
  context: check.oneOf('auto', 'current_turn', 'all_turns'),
}
/** The smallest output limit that OpenAI accepts. */
const outputTokensMin = 16

/** Every top-level member that OpenAI documents, with a check of its value. */
const fields: Record<string, check.Check> = {
  model: check.string(),
  input: check.either(check.listOf(check.object), check.string()),
  instructions: check.string(),
  max_output_tokens: check.integer(outputTokensMin),
  max_tool_calls: check.integer(1),
  temperature: check.decimal(0, 2),
  top_p: check.decimal(0, 1),
  top_logprobs: check.integer(0, 20),
  reasoning: check.members(reasoningFields),
  text: check.members({
    format: check.members(formatFields, ['type']),
    verbosity: check.oneOf('low', 'medium', 'high'),
  }),
  tools: check.listOf(check.object, 128),
  tool_choice: check.either(check.object, check.oneOf('none', 'auto', 'required')),
  parallel_tool_calls: check.boolean,
  truncation: check.oneOf('auto', 'disabled'),
  include: check.listOf(check.oneOf(...includable)),
  previous_response_id: check.string(),
  store: check.boolean,
  stream: check.boolean,
  stream_options: check.members({ include_obfuscation: check.boolean }),
  metadata: check.object,
  client_metadata: check.object,
  service_tier: check.oneOf('auto', 'default', 'flex', 'scale', 'priority'),
  prompt_cache_key: check.string(),
  prompt_cache_options: check.object,
  prompt_cache_retention: check.string(),
  safety_identifier: check.string(),
  user: check.string(),
  moderation: check.object,
  context_management: check.listOf(check.object),
  background: check.boolean,
  conversation: check.either(check.object, check.string()),
  prompt: check.object,
}

/** Reads a Responses request as strictly as OpenAI does. Throws `ApiError`. */
export function readResponsesRequest(
  body: JsonObject,
  stored: StoredResponses,
  faults: Faults,
): ResponsesRequest {
  const lenient = faults.lenient === true
  check.checkMembers(body, { fields, required: ['model', 'input'], strict: !lenient })
  refuseUnplayed(body)
  if (Array.isArray(body['input']) && body['input'].length === 0)
    throw invalidRequest("Invalid 'input': at least one item is expected.", 'input', 'empty_array')
  const model = findModel(body['model'], 'chat', faults.anyModel)
  const include = Array.isArray(body['include']) ? body['include'] : []
  const reasoning = isObject(body['reasoning']) ? body['reasoning'] : {}
  refuseForModel(body, model)
  const tools = readTools(body['tools'], lenient)
  const items = readItems(wholeInput(body, stored), { lenient, stored, sealer: faults.sealer })
  const streamOptions = isObject(body['stream_options']) ? body['stream_options'] : {}
  const request: ResponsesRequest = {
    model,
    items,
    inputTokens: inputTokensOf(body, items),
    tools,
    toolChoice: readToolChoice(body['tool_choice'], tools, Array.isArray(body['tools'])),
    parallelToolCalls: body['parallel_tool_calls'] !== false,
    outputTokensMax: Math.min(
      Number(body['max_output_tokens'] ?? Number.MAX_SAFE_INTEGER),
      model.outputTokensMax ?? Number.MAX_SAFE_INTEGER,
    ),
    stream: body['stream'] === true,
    includeObfuscation: streamOptions['include_obfuscation'] !== false,
    store: body['store'] !== false,
    effort: String(reasoning['effort'] ?? (model.reasoning === true ? 'medium' : 'none')),
    hasSummary: typeof (reasoning['summary'] ?? reasoning['generate_summary']) === 'string',
    hasEncryptedThoughts: include.includes('reasoning.encrypted_content'),
    hasLogprobs: include.includes('message.output_text.logprobs'),
    topLogprobs: Number(body['top_logprobs'] ?? 0),
    answerSchema: readFormat(body),
  }
  refuseOverflow(request)
  return request
}

/** Members that need a worker or a store, which the simulator lacks. */
function refuseUnplayed(body: JsonObject): void {
  for (const name of ['conversation', 'prompt', 'background']) {
    if (body[name] === undefined || body[name] === null || body[name] === false) continue
    throw invalidRequest(`The simulator does not play '${name}'.`, name, 'unsupported_parameter')
  }
}

function refuseForModel(body: JsonObject, model: Model): void {
  const reasoning = isObject(body['reasoning']) ? body['reasoning'] : {}
  const include = Array.isArray(body['include']) ? body['include'] : []
  if (model.isOpen === true) return
  if (model.reasoning !== true) {
    if (reasoning['effort'] !== undefined && reasoning['effort'] !== null)
      throw unsupported('reasoning.effort', 'unsupported_parameter')
    if (include.includes('reasoning.encrypted_content'))
      throw invalidRequest('Encrypted content is not supported with this model.', 'include')
    return
  }
  if (model.samplesUnthinking === true && reasoning['effort'] === 'none') return
  for (const name of ['temperature', 'top_p', 'top_logprobs']) {
    if (body[name] === undefined || body[name] === null) continue
    throw unsupported(name, null)
  }
}

function unsupported(name: string, code: string | null) {
  return invalidRequest(`Unsupported parameter: '${name}' is not supported with this model.`, name, code)
}

/** The input with the conversation before it, when the request names an earlier answer. */
function wholeInput(body: JsonObject, stored: StoredResponses): unknown {
  const id = body['previous_response_id']
  if (typeof id !== 'string') return body['input']
  const before = stored.get(id)
  if (before === null) {
    const message = `Previous response with id '${id}' not found.`
    throw invalidRequest(message, 'previous_response_id', 'previous_response_not_found')
  }
  return [...before.items, ...itemsIn(body['input'])]
}

/** The input as items. */
export function itemsIn(input: unknown): JsonObject[] {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }]
  return Array.isArray(input) ? input.filter(isObject) : []
}

function inputTokensOf(body: JsonObject, items: readonly ReadItem[]): number {
  const instructions = typeof body['instructions'] === 'string' ? countTokens(body['instructions']) : 0
  const offered = [body['tools'], body['text']].filter((one) => isObject(one) || Array.isArray(one))
  const shown = offered.reduce<number>((sum, one) => sum + countTokens(JSON.stringify(one)), instructions)
  return items.reduce((sum, item) => sum + item.tokens, shown)
}

function readFormat(body: JsonObject): JsonObject | null {
  const text = isObject(body['text']) ? body['text'] : {}
  const format = isObject(text['format']) ? text['format'] : { type: 'text' }
  if (format['type'] === 'text') return null
  if (format['type'] === 'json_object') {
    if (/json/i.test(JSON.stringify([body['input'], body['instructions']]))) return {}
    const message =
      "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'."
    throw invalidRequest(message, 'input')
  }
  for (const name of ['name', 'schema']) {
    const param = `text.format.${name}`
    if (format[name] === undefined)
      throw invalidRequest(`Missing required parameter: '${param}'.`, param, 'missing_required_parameter')
  }
  const schema = isObject(format['schema']) ? format['schema'] : {}
  const fault = format['strict'] === true ? strictFault(schema, 0) : null
  if (fault === null) return schema
  const message = `Invalid schema for response_format '${String(format['name'])}': ${fault}.`
  throw invalidRequest(message, 'text.format.schema', 'invalid_json_schema')
}

function refuseOverflow({ inputTokens, model }: ResponsesRequest): void {
  if (inputTokens <= (model.contextTokens ?? Number.MAX_SAFE_INTEGER)) return
  const message =
    'Your input exceeds the context window of this model. Please adjust your input and try again.'
  throw invalidRequest(message, 'input', 'context_length_exceeded')
}
