import * as check from '../checks.ts'
import { invalidRequest } from '../errors.ts'
import { isObject, type JsonObject } from '../json.ts'
import { isSealed } from '../seals.ts'
import { countTokens } from '../tokens.ts'
import type { GoogleModel } from './models.ts'

/** A turn of a conversation. */
export interface Content {
  role: string
  parts: JsonObject[]
}

/** An image or a document counts the same whatever its size: the true rules are not public. */
const mediumTokens = 258
/** The values that Google accepts in place of a lost signature. */
const skippedSignature = 'skip_thought_signature_validator'

const blob = check.members({ mimeType: check.string(), data: base64, displayName: check.string() }, [
  'mimeType',
  'data',
])
const fileData = check.members({ mimeType: check.string(), fileUri: check.string() }, ['fileUri'])
const functionCall = check.members({ id: check.string(), name: check.string(128), args: check.object }, [
  'name',
])
const functionResponse = check.members(
  {
    id: check.string(),
    name: check.string(128),
    response: check.object,
    parts: check.listOf(check.members({ inlineData: blob, fileData })),
    willContinue: check.boolean,
    scheduling: check.string(),
  },
  ['name', 'response'],
)
const partFields: Record<string, check.Check> = {
  text: check.string(),
  inlineData: blob,
  fileData,
  functionCall,
  functionResponse,
  executableCode: check.object,
  codeExecutionResult: check.object,
  thought: check.boolean,
  thoughtSignature: check.string(),
  videoMetadata: check.object,
  mediaResolution: check.object,
}
const data = [
  'text',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
]

function base64(value: unknown, param: string): void {
  check.string()(value, param)
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(String(value)))
    throw invalidRequest(`Invalid value at '${param}' (TYPE_BYTES), Base64 decoding failed`)
}

/** Reads one content. Throws `ApiError` naming the part at fault. */
export function readContent(value: unknown, param: string, lenient: boolean): Content {
  check.object(value, param)
  const content = isObject(value) ? value : {}
  const fields = { role: check.string(), parts: check.listOf(check.object) }
  check.checkMembers(content, { fields, required: ['parts'], strict: !lenient, prefix: `${param}.` })
  const { role = 'user' } = content
  if (role !== 'user' && role !== 'model')
    throw invalidRequest('Please use a valid role: user, model.', `${param}.role`)
  const parts = Array.isArray(content['parts']) ? content['parts'].filter(isObject) : []
  if (parts.length === 0) throw invalidRequest(`* ${param}.parts: contents.parts must not be empty.`)
  for (const [at, part] of parts.entries()) readPart(part, `${param}.parts[${at}]`, lenient)
  return { role, parts }
}

function readPart(part: JsonObject, param: string, lenient: boolean): void {
  check.checkMembers(part, { fields: partFields, required: [], strict: !lenient, prefix: `${param}.` })
  const kinds = data.filter((name) => part[name] !== undefined)
  if (kinds.length === 0 && part['thoughtSignature'] === undefined)
    throw invalidRequest(`* ${param}.data: required oneof field 'data' must have one initialized field`)
  if (kinds.length > 1)
    throw invalidRequest(`Invalid value at '${param}' (oneof), oneof field 'data' is already set.`)
}

/** Reads the conversation and checks its order. Throws `ApiError`. */
export function readContents(value: unknown, model: GoogleModel, lenient: boolean): Content[] {
  const list = Array.isArray(value) ? value : []
  if (list.length === 0) throw invalidRequest('* GenerateContentRequest.contents: contents is not specified')
  const contents = list.map((content, at) => readContent(content, `contents[${at}]`, lenient))
  for (const [at, content] of contents.entries()) {
    refuseLonelyCall(contents, at)
    refuseOtherResponses(content, contents[at - 1])
  }
  refuseForeignSignatures(contents)
  if (model.isThird === true) refuseLostSignatures(contents)
  return contents
}

function partsWith(content: Content | undefined, name: string): JsonObject[] {
  return (content?.parts ?? []).map((part) => part[name]).filter(isObject)
}

function refuseLonelyCall(contents: readonly Content[], at: number): void {
  const content = contents[at]
  if (content?.role !== 'model' || partsWith(content, 'functionCall').length === 0) return
  if (contents[at - 1]?.role === 'user') return
  throw invalidRequest(
    'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
  )
}

function refuseOtherResponses(content: Content, before: Content | undefined): void {
  const responses = partsWith(content, 'functionResponse')
  const calls = partsWith(before, 'functionCall')
  if (calls.length !== responses.length && (responses.length > 0 || content.role === 'user'))
    throw invalidRequest(
      'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
    )
  for (const [at, response] of responses.entries()) {
    const call = calls[at] ?? {}
    if (response['name'] === call['name'] && response['id'] === call['id']) continue
    throw invalidRequest(
      'Please ensure that function response parts answer the function calls in their order.',
    )
  }
}

/** The content that a signature covers: a call with its arguments, or any text. */
export function signedSubject(part: JsonObject): string {
  const call = part['functionCall']
  return isObject(call) ? `call ${String(call['name'])} ${JSON.stringify(call['args'] ?? {})}` : 'words'
}

function refuseForeignSignatures(contents: readonly Content[]): void {
  for (const part of contents.flatMap(({ parts }) => parts)) {
    const signature = part['thoughtSignature']
    if (typeof signature !== 'string' || signature === skippedSignature) continue
    if (!isSealed(signedSubject(part), signature)) throw invalidRequest('Thought signature is not valid.')
  }
}

/** Checks the current turn: the contents after the user's last text. */
function refuseLostSignatures(contents: readonly Content[]): void {
  const lastWords = contents.findLastIndex(
    (content) => content.role === 'user' && partsWith(content, 'functionResponse').length === 0,
  )
  for (const content of contents.slice(lastWords + 1)) {
    const first = content.parts.find((part) => part['functionCall'] !== undefined)
    if (first === undefined || first['thoughtSignature'] !== undefined) continue
    const { name } = isObject(first['functionCall']) ? first['functionCall'] : {}
    throw invalidRequest(
      `Function call is missing a thought_signature in functionCall parts: \`${String(name)}\`.`,
    )
  }
}

/** A part that is sound, or a file of sound. */
export function isSound(part: JsonObject): boolean {
  const media = [part['inlineData'], part['fileData']].find(isObject) ?? {}
  return String(media['mimeType']).startsWith('audio/')
}

/** The tokens of a content's text. Sounds are counted elsewhere, by their lengths. */
export function tokensOfContent({ parts }: Content): { text: number; media: number } {
  const unsounding = parts.filter((part) => !isSound(part))
  const media = unsounding.filter(
    (part) => part['inlineData'] !== undefined || part['fileData'] !== undefined,
  )
  const said = unsounding.filter((part) => !media.includes(part)).map(wordsOf)
  return { text: said.reduce((sum, text) => sum + countTokens(text), 0), media: media.length * mediumTokens }
}

function wordsOf(part: JsonObject): string {
  if (typeof part['text'] === 'string') return part['text']
  return JSON.stringify(part['functionCall'] ?? part['functionResponse'] ?? '')
}

/** The text of a content. */
export function textOf({ parts }: Content): string {
  return parts
    .filter((part) => part['thought'] !== true)
    .map((part) => (typeof part['text'] === 'string' ? part['text'] : ''))
    .join('\n')
}

/** The last results of tools; null when the conversation does not end with results. */
export function lastToolAnswer(contents: readonly Content[]): string | null {
  const responses = partsWith(contents.at(-1), 'functionResponse').map(({ response }) => response)
  if (responses.length === 0) return null
  return responses
    .map((response) => (isObject(response) ? String(Object.values(response)[0] ?? '') : ''))
    .join('\n')
}
