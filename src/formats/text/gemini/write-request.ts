import type { Conversation, Tool, ToolChoice } from '../../../canonical/text/conversation.ts'
import { knownNameOf, type Endpoint } from '../../../canonical/endpoint.ts'
import type { EncodedRequest, RequestTarget } from '../halves.ts'
import { fieldError } from '../../../core/errors.ts'
import { isHeldByGemini } from '../output/json-schema.ts'
import { type Carried, leaveOwnMembers, Losses, nameOf, refuseTool } from '../member-names.ts'
import { tellOutput, type ToldOutput } from '../output/promised-output.ts'
import { tierToSend } from '../../service-tier.ts'
import type { GeminiModel, GeminiQuirks } from './quirks.ts'
import { thinkingConfigOf } from './write-thinking.ts'
import { writeTurns, type WrittenTurns } from './write-turns.ts'
import { typeNameOf } from '../../../json/values.ts'

type Wire = Record<string, unknown>

/** The provider takes at most this many. */
const stopTextsMax = 5

/** The state of writing a request, with the list of losses for the caller. */
interface Writing {
  conversation: Conversation
  endpoint: Endpoint
  model: GeminiModel
  losses: Losses
}

/**
 * Writes a conversation as a body for Gemini's `generateContent`. Throws `invalid_request` for a part that must not be
 * left out.
 */
export function* writeGeminiRequest(
  conversation: Conversation,
  { endpoint, quirks }: RequestTarget<GeminiQuirks>,
): Generator<void, EncodedRequest> {
  const model = quirks.modelOf(knownNameOf(endpoint))
  refuseWhatIsMissing(conversation)
  const left = leaveOwnMembers(conversation, 'gemini')
  const losses = new Losses(conversation)
  const writing: Writing = { conversation, endpoint, model, losses }
  const { system, contents } = yield* writeTurns(conversation, writing)
  const told = tellWhatIsNotHeld(writing)
  if (told !== null) tell(told.instruction, { system, contents, model })
  const limit = conversation.outputTokensMax ?? endpoint.outputTokensMax ?? model.outputTokensMax
  const config = configOf(writing, { told, limit })
  const body: Wire = {
    ...(system.length > 0 ? { systemInstruction: { parts: system } } : {}),
    contents,
    ...toolsOf(writing),
    ...(Object.keys(config).length > 0 ? { generationConfig: config } : {}),
    ...tierOf(writing),
  }
  noteLosses(writing)
  yield
  return {
    body: [JSON.stringify(body)],
    dropped: [...left, ...losses.dropped],
    approximated: [...losses.approximated],
    ...(told === null ? {} : { promised: told.promised }),
  }
}

/** Throws for options that change the answer and have no place in the format. */
function refuseWhatIsMissing(conversation: Conversation): void {
  const { stop, tools } = conversation
  if (stop.length > stopTextsMax) {
    throw fieldError(
      nameOf('stop', conversation),
      `must have at most ${stopTextsMax} entries with the chosen provider. Leave some out or choose another model.`,
    )
  }
  for (const tool of tools) {
    if (tool.kind === 'custom') throw refuseTool(conversation, `the custom tool "${tool.name}"`)
    if (tool.kind === 'provider' && tool.format !== 'gemini')
      throw refuseTool(conversation, `"${typeNameOf(tool.value)}"`)
  }
}

/**
 * Describes the form of the answer in words, when the provider does not enforce all of it: older models refuse a form
 * together with tools, and some keywords are unknown to the provider.
 */
function tellWhatIsNotHeld({ conversation, model, losses }: Writing): ToldOutput | null {
  const { output } = conversation
  const isHeld = output.kind !== 'schema' || output.schema === null || isHeldByGemini(output.schema)
  if (output.kind === 'text' || (isHeld && takesFormat(conversation, model))) return null
  losses.approximate('output')
  return tellOutput(output, nameOf('output', conversation), takesFormat(conversation, model))
}

function takesFormat({ tools }: Conversation, { hasFormatBesideTools }: GeminiModel): boolean {
  return tools.length === 0 || hasFormatBesideTools
}

function tell(text: string, { system, contents, model }: WrittenTurns & { model: GeminiModel }): void {
  const last = contents.at(-1)
  if (model.hasSystem) system.push({ text })
  else if (last?.role === 'user') last.parts.push({ text })
  else contents.push({ role: 'user', parts: [{ text }] })
}

function toolsOf({ conversation, losses }: Writing): Wire {
  const { tools, toolChoice } = conversation
  const functions = tools.filter((tool) => tool.kind !== 'provider')
  if (functions.length === 0) return {}
  if (functions.some(({ cache }) => cache !== undefined)) losses.drop('toolCache')
  const config = callingOf(toolChoice, functions)
  return {
    tools: [{ functionDeclarations: functions.map(declare) }],
    ...(config === null ? {} : { toolConfig: { functionCallingConfig: config } }),
  }
}

function declare({ name, description, parameters }: Tool): Wire {
  return {
    name,
    description: description ?? '',
    ...(parameters === null ? {} : { parametersJsonSchema: parameters }),
  }
}

/** `VALIDATED` is like `AUTO`, but enforces the arguments' schema and the allowed names. */
function callingOf(choice: ToolChoice | null, tools: readonly Tool[]): Wire | null {
  const isStrict = tools.some(({ strict }) => strict === true)
  const free = isStrict ? 'VALIDATED' : 'AUTO'
  if (choice === null) return isStrict ? { mode: free } : null
  switch (choice.kind) {
    case 'auto':
      return { mode: free }
    case 'required':
      return { mode: 'ANY' }
    case 'none':
      return { mode: 'NONE' }
    case 'named':
      return { mode: 'ANY', allowedFunctionNames: [choice.name] }
    case 'allowed':
      return {
        mode: choice.mode === 'required' ? 'ANY' : 'VALIDATED',
        allowedFunctionNames: [...choice.names],
      }
  }
}

function configOf(
  { conversation, model, losses }: Writing,
  { told, limit }: { told: ToldOutput | null; limit: number },
): Wire {
  const { tuning, stop, choices, logprobs, outputTokensMax } = conversation
  const members: Wire = {
    maxOutputTokens: outputTokensMax,
    stopSequences: stop.length === 0 ? null : stop,
    candidateCount: choices === 1 ? null : choices,
    responseLogprobs: logprobs === null ? null : true,
    logprobs: logprobs === 0 ? null : logprobs,
    temperature: tuning.temperature,
    topP: tuning.topP,
    topK: tuning.topK,
    seed: tuning.seed,
    presencePenalty: tuning.presencePenalty,
    frequencyPenalty: tuning.frequencyPenalty,
    thinkingConfig: thinkingConfigOf(conversation, { thinking: model.thinking, limit, losses }),
    ...(takesFormat(conversation, model) ? formatOf(conversation, told) : {}),
  }
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null))
}

/** A schema that the gateway checks is sent too: the provider enforces the keywords that it knows. */
function formatOf({ output }: Conversation, told: ToldOutput | null): Wire {
  if (output.kind === 'text') return {}
  const schema = output.kind === 'schema' ? output.schema : null
  const isSent = schema !== null && (told === null || told.promised.kind === 'schema')
  return { responseMimeType: 'application/json', ...(isSent ? { responseJsonSchema: schema } : {}) }
}

/** Tiers by the provider's names; null for those that leave the choice to the provider. */
const tiers: ReadonlyMap<string, string | null> = new Map([
  ['auto', null],
  ['default', 'standard'],
  ['standard', 'standard'],
])

function tierOf({ conversation, endpoint, losses }: Writing): Wire {
  const { serviceTier } = conversation.tuning
  if (serviceTier === null) return {}
  const usual = tiers.get(serviceTier)
  // Every other tier has its own price.
  const tier = usual === undefined ? (tierToSend(serviceTier, [], endpoint) ?? undefined) : usual
  if (tier === undefined) losses.drop('serviceTier')
  return tier === undefined || tier === null ? {} : { serviceTier: tier }
}

const neverCarried = [
  'minP',
  'repetitionPenalty',
  'logitBias',
  'verbosity',
  'cacheKey',
] as const satisfies readonly Carried[]

function noteLosses({ conversation, losses }: Writing): void {
  const { tuning, userId, metadata, cache, isParallel, tools } = conversation
  for (const name of neverCarried) if (tuning[name] !== null) losses.drop(name)
  if (userId !== null) losses.drop('userId')
  if (metadata !== null) losses.drop('metadata')
  if (cache !== undefined) losses.drop('cache')
  if (isParallel === false && tools.length > 0) losses.drop('isParallel')
}
