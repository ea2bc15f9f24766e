import * as check from '../checks.ts'
import { invalidRequest } from '../errors.ts'
import type { Faults } from '../faults.ts'
import { isObject, type JsonObject } from '../json.ts'
import { type OfferedTool, thoughtTokensOf, type ToolChoice } from '../prompt.ts'
import { type Content, readContent, readContents } from './contents.ts'
import type { GoogleModel } from './models.ts'

/** `sse` as events, `array` as one long JSON array, `whole` not streamed. */
export type ContentForm = 'whole' | 'sse' | 'array'

/** A request for contents that has passed every check. */
export interface ContentRequest {
  model: GoogleModel
  system: Content | null
  contents: Content[]
  tools: OfferedTool[]
  toolChoice: ToolChoice
  candidates: number
  stop: string[]
  outputTokensMax: number
  answerSchema: JsonObject | null
  logprobs: number | null
  thoughtTokens: number
  showsThoughts: boolean
  streamsArguments: boolean
  /** How to transcribe sound with times; null when the request's text decides. */
  transcription: TranscriptionConfig | null
  /** The voice of a speaking model; null when none is named. */
  voice: string | null
}

/** The members of `audioTranscriptionConfig` that change an answer here. */
export interface TranscriptionConfig {
  wordTimestamp: boolean
  diarization: boolean
}

const transcriptionFields = {
  languageCodes: check.listOf(check.string()),
  customVocabulary: check.listOf(check.string()),
  wordTimestamp: check.boolean,
  diarization: check.boolean,
  mode: check.oneOf('VERBATIM', 'SMART'),
  sourceText: check.string(),
}

/** Gemini's own voices, from its documents of speech. */
export const googleVoices: readonly string[] = (
  'Zephyr Puck Charon Kore Fenrir Leda Orus Aoede Callirrhoe Autonoe Enceladus Iapetus Umbriel Algieba Despina Erinome ' +
  'Algenib Rasalgethi Laomedeia Achernar Alnilam Schedar Gacrux Pulcherrima Achird Zubenelgenubi Vindemiatrix Sadachbia ' +
  'Sadaltager Sulafat'
).split(' ')

const voiceFields = {
  prebuiltVoiceConfig: check.members({ voiceName: check.string() }, ['voiceName']),
  replicatedVoiceConfig: check.object,
}
const speechFields = {
  voiceConfig: check.members(voiceFields),
  multiSpeakerVoiceConfig: check.object,
  languageCode: check.string(),
}
const thinkingFields = {
  includeThoughts: check.boolean,
  thinkingBudget: check.integer(-1),
  thinkingLevel: check.oneOf('MINIMAL', 'LOW', 'MEDIUM', 'HIGH'),
}
const configFields: Record<string, check.Check> = {
  temperature: check.decimal(0, 2),
  topP: check.decimal(0, 1),
  topK: check.integer(1),
  maxOutputTokens: check.integer(1),
  stopSequences: check.listOf(check.string(), 5),
  candidateCount: check.integer(1, 8),
  seed: check.integer(Number.MIN_SAFE_INTEGER),
  presencePenalty: check.decimal(-2, 2),
  frequencyPenalty: check.decimal(-2, 2),
  responseLogprobs: check.boolean,
  logprobs: check.integer(0, 20),
  responseMimeType: check.oneOf('text/plain', 'application/json', 'text/x.enum'),
  responseSchema: check.object,
  responseJsonSchema: check.object,
  responseModalities: check.listOf(check.string()),
  thinkingConfig: check.members(thinkingFields),
  mediaResolution: check.string(),
  speechConfig: check.members(speechFields),
  audioTimestamp: check.boolean,
  audioTranscriptionConfig: check.members(transcriptionFields),
}
const callingFields = {
  mode: check.oneOf('AUTO', 'ANY', 'NONE', 'VALIDATED'),
  allowedFunctionNames: check.listOf(check.string()),
  streamFunctionCallArguments: check.boolean,
}
const declarationFields = {
  name: check.string(128),
  description: check.string(),
  parameters: openApiSchema,
  parametersJsonSchema: check.object,
  response: check.object,
}
const toolFields = {
  functionDeclarations: check.listOf(check.members(declarationFields, ['name', 'description'])),
  googleSearch: check.object,
  urlContext: check.object,
  codeExecution: check.object,
}
const fields: Record<string, check.Check> = {
  contents: check.listOf(check.object),
  systemInstruction: check.object,
  generationConfig: check.members(configFields),
  tools: check.listOf(check.members(toolFields)),
  toolConfig: check.members({ functionCallingConfig: check.members(callingFields) }),
  safetySettings: check.listOf(check.members({ category: check.string(), threshold: check.string() })),
  cachedContent: check.string(),
  serviceTier: check.oneOf('standard', 'flex', 'priority'),
  store: check.boolean,
}

/** The subset of OpenAPI schemas that Google takes: without references and without `additionalProperties`. */
function openApiSchema(value: unknown, param: string): void {
  const found = /"(\$ref|\$defs|\$schema|additionalProperties)":/.exec(JSON.stringify(value))?.[1]
  if (found !== undefined)
    throw invalidRequest(
      `Invalid JSON payload received. Unknown name "${found}" at '${param}': Cannot find field.`,
    )
}

/** Reads a request as strictly as Google does. Throws `ApiError`. */
export function readContentRequest(body: JsonObject, model: GoogleModel, faults: Faults): ContentRequest {
  const lenient = faults.lenient === true
  check.checkMembers(body, { fields, required: ['contents'], strict: !lenient })
  const config = objectAt(body, 'generationConfig')
  const calling = objectAt(objectAt(body, 'toolConfig'), 'functionCallingConfig')
  const tools = toolsIn(body)
  const thinking = objectAt(config, 'thinkingConfig')
  refuseFormatBesideTools(config, tools, model)
  if (config['logprobs'] !== undefined && config['responseLogprobs'] !== true)
    throw invalidRequest('Logprobs is only supported when response_logprobs is true.')
  return {
    model,
    system: systemOf(body, model, lenient),
    contents: readContents(body['contents'], model, lenient),
    tools,
    toolChoice: choiceOf(calling, tools),
    candidates: Number(config['candidateCount'] ?? 1),
    stop: Array.isArray(config['stopSequences']) ? config['stopSequences'].map(String) : [],
    outputTokensMax: limitOf(config, model),
    answerSchema: schemaOf(config),
    logprobs: config['responseLogprobs'] === true ? Number(config['logprobs'] ?? 0) : null,
    thoughtTokens: thoughtTokens(thinking, model),
    showsThoughts: thinking['includeThoughts'] === true,
    streamsArguments: calling['streamFunctionCallArguments'] === true,
    transcription: transcriptionIn(config, model),
    voice: voiceIn(config, model),
  }
}

function objectAt(value: JsonObject, name: string): JsonObject {
  return isObject(value[name]) ? value[name] : {}
}

function systemOf(body: JsonObject, model: GoogleModel, lenient: boolean): Content | null {
  if (body['systemInstruction'] === undefined) return null
  if (model.isOpen === true)
    throw invalidRequest(`Developer instruction is not enabled for models/${model.id}`)
  const system = readContent(body['systemInstruction'], 'systemInstruction', lenient)
  if (system.parts.some((part) => part['text'] === undefined))
    throw invalidRequest('System instruction only supports text parts.')
  return system
}

function toolsIn(body: JsonObject): OfferedTool[] {
  const tools = Array.isArray(body['tools']) ? body['tools'].filter(isObject) : []
  const names = new Set<string>()
  return tools.flatMap((tool) => {
    const declared = tool['functionDeclarations']
    return (Array.isArray(declared) ? declared.filter(isObject) : []).map((declaration) => {
      const name = String(declaration['name'])
      if (!/^[a-zA-Z_][\w.:-]*$/.test(name))
        throw invalidRequest('Invalid function name. Must start with a letter or an underscore.')
      if (names.has(name)) throw invalidRequest(`Duplicate function declaration found: ${name}`)
      names.add(name)
      const { parameters, parametersJsonSchema } = declaration
      if (parameters !== undefined && parametersJsonSchema !== undefined)
        throw invalidRequest('Only one of parameters and parametersJsonSchema may be set.')
      const schema = parameters ?? parametersJsonSchema
      return { name, parameters: isObject(schema) ? schema : {}, isCustom: false }
    })
  })
}

function choiceOf(calling: JsonObject, tools: readonly OfferedTool[]): ToolChoice {
  const { mode = 'AUTO', allowedFunctionNames: allowed } = calling
  const names = Array.isArray(allowed) ? allowed.map(String) : []
  if (names.length > 0 && mode !== 'ANY' && mode !== 'VALIDATED')
    throw invalidRequest('Allowed function names should only be set when the mode is ANY or VALIDATED.')
  const unknown = names.find((name) => !tools.some((tool) => tool.name === name))
  if (unknown !== undefined)
    throw invalidRequest(`Allowed function name ${unknown} is not declared in the tools.`)
  if (mode === 'NONE' || tools.length === 0) return 'none'
  if (mode !== 'ANY') return 'auto'
  const [only] = names
  return names.length === 1 && only !== undefined ? { name: only } : 'required'
}

/** Throws 400 for an output kind that the model does not make, and for an unknown voice. */
function voiceIn(config: JsonObject, model: GoogleModel): string | null {
  const { responseModalities: asked = ['TEXT'] } = config
  const modalities = (Array.isArray(asked) ? asked : []).join(', ')
  const own = model.isSpeaker === true ? 'AUDIO' : 'TEXT'
  if (modalities !== own && (own === 'AUDIO' || modalities.includes('AUDIO')))
    throw invalidRequest(
      `The requested combination of response modalities (${modalities}) is not supported by the model.`,
    )
  const named = objectAt(objectAt(objectAt(config, 'speechConfig'), 'voiceConfig'), 'prebuiltVoiceConfig')
  const name = named['voiceName']
  if (name === undefined) return null
  if (googleVoices.includes(String(name))) return String(name)
  throw invalidRequest(
    `Voice name ${String(name)} is not supported. Allowed voice names are: ${googleVoices.join(', ')}`,
  )
}

/** Google does not document which models take this configuration; here the newest do. */
function transcriptionIn(config: JsonObject, model: GoogleModel): TranscriptionConfig | null {
  if (config['audioTranscriptionConfig'] === undefined) return null
  if (model.isThird !== true)
    throw invalidRequest(`Audio transcription config is not supported for models/${model.id}`)
  const { wordTimestamp, diarization } = objectAt(config, 'audioTranscriptionConfig')
  return { wordTimestamp: wordTimestamp === true, diarization: diarization === true }
}

function limitOf(config: JsonObject, model: GoogleModel): number {
  const asked = Number(config['maxOutputTokens'] ?? model.outputTokensMax)
  if (asked <= model.outputTokensMax) return asked
  throw invalidRequest(
    `Unable to submit request because it has a maxOutputTokens value of ${asked} but the supported range is from 1 (inclusive) to ${model.outputTokensMax + 1} (exclusive).`,
  )
}

function schemaOf(config: JsonObject): JsonObject | null {
  const { responseMimeType: mimeType, responseSchema, responseJsonSchema } = config
  const schema = responseSchema ?? responseJsonSchema
  if (mimeType === 'application/json') return isObject(schema) ? schema : {}
  if (schema === undefined) return null
  throw invalidRequest('A response schema needs the response mime type application/json.')
}

function refuseFormatBesideTools(
  config: JsonObject,
  tools: readonly OfferedTool[],
  model: GoogleModel,
): void {
  if (config['responseMimeType'] !== 'application/json' || tools.length === 0 || model.isThird === true)
    return
  throw invalidRequest("Function calling with a response mime type: 'application/json' is unsupported")
}

function thoughtTokens(
  { thinkingBudget: budget, thinkingLevel: level }: JsonObject,
  model: GoogleModel,
): number {
  const { thinking } = model
  if (budget !== undefined && level !== undefined)
    throw invalidRequest('You can only set only one of thinking budget and thinking level.')
  if (thinking === undefined) {
    if (budget === undefined && level === undefined) return 0
    throw invalidRequest('Thinking is not enabled for this model.')
  }
  if ('hasMinimal' in thinking) {
    if (level === 'MINIMAL' && !thinking.hasMinimal)
      throw invalidRequest('Thinking level MINIMAL is not supported for this model.')
    return thoughtTokensOf(String(level ?? 'HIGH').toLowerCase())
  }
  if (level !== undefined) throw invalidRequest('Thinking level is not supported for this model.')
  if (typeof budget !== 'number' || budget === -1) return thoughtTokensOf('medium')
  if (budget === 0 && thinking.canBeOff) return 0
  const { budgetMin, budgetMax } = thinking
  if (budget < Math.max(1, budgetMin) || budget > budgetMax)
    throw invalidRequest(
      `The thinking budget ${budget} is invalid. Please choose a value between ${budgetMin} and ${budgetMax}.`,
    )
  return Math.min(budget, thoughtTokensOf('high'))
}
