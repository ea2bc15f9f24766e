import * as check from '../checks.ts'
import { invalidRequest } from '../errors.ts'
import type { Faults } from '../faults.ts'
import { isObject, type JsonObject } from '../json.ts'
import { type OfferedTool, thoughtTokensOf, type ToolChoice } from '../prompt.ts'
import { isSealed } from '../seals.ts'

/** A message of a conversation. */
export interface Message {
  role: string
  content: JsonObject[]
}

/** A request that has passed every check. */
export interface ConverseRequest {
  system: JsonObject[]
  messages: Message[]
  tools: OfferedTool[]
  toolChoice: ToolChoice
  stop: string[]
  outputTokensMax: number
  answerSchema: JsonObject | null
  thoughtTokens: number
}

const usualOutputTokens = 4_096
const source = check.members({ bytes: check.string(), s3Location: check.object, text: check.string() })
const image = check.members({ format: check.oneOf('png', 'jpeg', 'gif', 'webp'), source }, [
  'format',
  'source',
])
const documentFormats = ['pdf', 'csv', 'doc', 'docx', 'xls', 'xlsx', 'html', 'txt', 'md'] as const
const document = check.members(
  {
    format: check.oneOf(...documentFormats),
    name: documentName,
    source,
    context: check.string(),
    citations: check.object,
  },
  ['name', 'source'],
)
const cachePoint = check.members({ type: check.oneOf('default'), ttl: check.oneOf('5m', '1h') }, ['type'])
const toolUse = check.members(
  { toolUseId: toolId, name: check.string(64), input: check.object, type: check.string() },
  ['toolUseId', 'name', 'input'],
)
const resultFields = { text: check.string(), json: check.object, image, document, video: check.object }
const toolResult = check.members(
  {
    toolUseId: toolId,
    content: check.listOf(check.members(resultFields)),
    status: check.oneOf('success', 'error'),
    type: check.string(),
  },
  ['toolUseId', 'content'],
)
const reasoning = check.members({
  reasoningText: check.members({ text: check.string(), signature: check.string() }, ['text']),
  redactedContent: check.string(),
})
const blockFields: Record<string, check.Check> = {
  text: check.string(),
  image,
  document,
  video: check.object,
  audio: check.object,
  toolUse,
  toolResult,
  reasoningContent: reasoning,
  guardContent: check.object,
  cachePoint,
  citationsContent: check.object,
  searchResult: check.object,
}
const toolFields = {
  toolSpec: check.members(
    {
      name: check.string(64),
      description: check.string(),
      inputSchema: check.members({ json: check.object }, ['json']),
      strict: check.boolean,
    },
    ['name', 'inputSchema'],
  ),
  cachePoint,
  systemTool: check.object,
}
const fields: Record<string, check.Check> = {
  messages: check.listOf(check.object),
  system: check.listOf(check.members({ text: check.string(), cachePoint, guardContent: check.object })),
  inferenceConfig: check.members({
    maxTokens: check.integer(1),
    temperature: check.decimal(0, 1),
    topP: check.decimal(0, 1),
    stopSequences: check.listOf(check.string(), 2_500),
  }),
  toolConfig: check.members(
    {
      tools: check.listOf(check.members(toolFields)),
      toolChoice: check.members({ auto: check.object, any: check.object, tool: check.object }),
    },
    ['tools'],
  ),
  guardrailConfig: check.object,
  additionalModelRequestFields: check.object,
  additionalModelResponseFieldPaths: check.listOf(check.string()),
  promptVariables: check.object,
  requestMetadata: check.object,
  performanceConfig: check.object,
  serviceTier: check.members({ type: check.oneOf('default', 'flex', 'priority', 'reserved') }, ['type']),
  outputConfig: check.object,
}

function toolId(value: unknown, param: string): void {
  check.string(64)(value, param)
  if (!/^[a-zA-Z0-9_-]+$/.test(String(value)))
    throw invalidRequest(
      `Value '${String(value)}' at '${param}' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_-]+`,
      param,
    )
}

/** Few characters are allowed, because the model reads the name. */
function documentName(value: unknown, param: string): void {
  check.string(200)(value, param)
  if (!/^[A-Za-z0-9()[\]-]+(?: [A-Za-z0-9()[\]-]+)*$/.test(String(value)))
    throw invalidRequest(
      'The document file name can only contain alphanumeric characters, whitespace characters, hyphens, parentheses, and square brackets.',
      param,
    )
}

/** Reads a request. Throws `ApiError` as the service refuses. */
export function readConverseRequest(body: JsonObject, faults: Faults): ConverseRequest {
  const strict = faults.lenient !== true
  check.checkMembers(body, { fields, required: ['messages'], strict, prefix: '' })
  const messages = listOf(body['messages']).map((message, at) => readMessage(message, at, strict))
  refuseOrder(messages)
  refuseResults(messages)
  refuseForeignThoughts(messages)
  refuseDocuments(messages)
  const config = objectOf(body['inferenceConfig'])
  const tools = toolsOf(objectOf(body['toolConfig']))
  const hasToolBlocks = messages.some(({ content }) =>
    content.some((block) => block['toolUse'] !== undefined || block['toolResult'] !== undefined),
  )
  if (hasToolBlocks && body['toolConfig'] === undefined)
    throw invalidRequest(
      'The toolConfig field must be defined when using toolUse and toolResult content blocks.',
    )
  const own = objectOf(body['additionalModelRequestFields'])
  return {
    system: listOf(body['system']),
    messages,
    tools,
    toolChoice: choiceOf(objectOf(objectOf(body['toolConfig'])['toolChoice'])),
    stop: (Array.isArray(config['stopSequences']) ? config['stopSequences'] : []).map(String),
    outputTokensMax: typeof config['maxTokens'] === 'number' ? config['maxTokens'] : usualOutputTokens,
    answerSchema: schemaOf(objectOf(body['outputConfig'])),
    thoughtTokens: thoughtsOf(own),
  }
}

function readMessage(message: JsonObject, at: number, strict: boolean): Message {
  const param = `messages.${at}`
  const members = { role: check.oneOf('user', 'assistant'), content: check.listOf(check.object) }
  check.checkMembers(message, { fields: members, required: ['role', 'content'], strict, prefix: `${param}.` })
  const content = listOf(message['content'])
  if (content.length === 0)
    throw invalidRequest(`The content field in the Message object at ${param} is empty.`, `${param}.content`)
  for (const [place, block] of content.entries()) {
    const prefix = `${param}.content.${place}.`
    check.checkMembers(block, { fields: blockFields, required: [], strict, prefix })
    if (Object.keys(block).length !== 1)
      throw invalidRequest(
        `ContentBlock object at ${prefix.slice(0, -1)} must set one of the following keys: ${Object.keys(blockFields).join(', ')}.`,
      )
    if (typeof block['text'] === 'string' && block['text'].trim() === '')
      throw invalidRequest(`The text field in the ContentBlock object at ${prefix.slice(0, -1)} is blank.`)
  }
  return { role: String(message['role']), content }
}

function refuseOrder(messages: readonly Message[]): void {
  if (messages[0]?.role !== 'user')
    throw invalidRequest(
      'A conversation must start with a user message. Try again with a conversation that starts with a user message.',
    )
}

function idsIn({ content }: Message, name: string): string[] {
  return content
    .map((block) => block[name])
    .filter(isObject)
    .map(({ toolUseId }) => String(toolUseId))
}

/** Every call has its result in the next message, before anything else. */
function refuseResults(messages: readonly Message[]): void {
  for (const [at, message] of messages.entries()) {
    const calls = idsIn(message, 'toolUse')
    const next = messages[at + 1]
    if (message.role === 'assistant' && calls.length > 0 && next !== undefined) {
      const answered = new Set(idsIn(next, 'toolResult'))
      const missing = calls.filter((id) => !answered.has(id))
      if (missing.length > 0)
        throw invalidRequest(
          `Expected toolResult blocks at messages.${at + 1}.content for the following Ids: ${missing.join(', ')}`,
        )
    }
    const before = messages[at - 1]
    const known = new Set(before === undefined ? [] : idsIn(before, 'toolUse'))
    const strange = idsIn(message, 'toolResult').filter((id) => !known.has(id))
    if (strange.length > 0)
      throw invalidRequest(
        `The number of toolResult blocks at messages.${at}.content exceeds the number of toolUse blocks of previous turn.`,
      )
  }
}

function refuseForeignThoughts(messages: readonly Message[]): void {
  for (const block of messages.flatMap(({ content }) => content)) {
    const thought = objectOf(block['reasoningContent'])
    const { text = '', signature } = objectOf(thought['reasoningText'])
    const sealed = thought['redactedContent']
    const isForeign =
      (signature !== undefined && !isSealed(`thought ${String(text)}`, String(signature))) ||
      (sealed !== undefined && !isSealed('redacted', String(sealed)))
    if (isForeign)
      throw invalidRequest('The model returned the following errors: Invalid `signature` in `thinking` block')
  }
}

function refuseDocuments(messages: readonly Message[]): void {
  const names = new Set<string>()
  for (const { content } of messages) {
    const documents = content.map((block) => block['document']).filter(isObject)
    if (documents.length > 0 && !content.some(({ text }) => text !== undefined))
      throw invalidRequest('A text block must be included when a document is.')
    for (const { name } of documents) {
      if (names.has(String(name))) throw invalidRequest('Document names must be unique.')
      names.add(String(name))
    }
  }
}

function toolsOf(config: JsonObject): OfferedTool[] {
  return listOf(config['tools'])
    .map((tool) => tool['toolSpec'])
    .filter(isObject)
    .map(({ name, inputSchema }) => ({
      name: String(name),
      parameters: objectOf(objectOf(inputSchema)['json']),
      isCustom: false,
    }))
}

function choiceOf({ any, tool }: JsonObject): ToolChoice {
  if (isObject(tool)) return { name: String(tool['name']) }
  return any === undefined ? 'auto' : 'required'
}

function schemaOf({ textFormat }: JsonObject): JsonObject | null {
  const { jsonSchema } = objectOf(objectOf(textFormat)['structure'])
  const { schema } = objectOf(jsonSchema)
  if (typeof schema !== 'string') return null
  try {
    return objectOf(JSON.parse(schema))
  } catch {
    throw invalidRequest('outputConfig.textFormat.structure.jsonSchema.schema is not valid JSON.')
  }
}

/** Claude's `thinking`, or Nova's `reasoningConfig`. */
function thoughtsOf({ thinking, output_config: output, reasoningConfig }: JsonObject): number {
  const { type, budget_tokens: budget } = objectOf(thinking)
  if (type === 'enabled') return Math.min(Number(budget), 64)
  if (type === 'adaptive') return thoughtTokensOf(String(objectOf(output)['effort'] ?? 'medium'))
  const { type: kind, maxReasoningEffort: effort } = objectOf(reasoningConfig)
  return kind === 'enabled' ? thoughtTokensOf(String(effort)) : 0
}

function listOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}
