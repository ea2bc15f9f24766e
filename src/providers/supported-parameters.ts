import type { TextCall } from '../canonical/call.ts'
import { knownNameOf, type Endpoint } from '../canonical/endpoint.ts'
import { modalityRow, type TextFormat } from '../canonical/operation.ts'
import { GatewayError } from '../core/errors.ts'
import { hasOwnCodec } from '../formats/text/codec.ts'
import { selectCodec } from '../formats/text/formats.ts'
import { chatCompletions, embeddings } from '../formats/text/text-operations.ts'
import { lostParameters } from '../formats/text/adapter.ts'
import { chooseInterface, type TextInterface } from '../formats/text/text-interface.ts'
import { textInterfacesOf, type Adapters } from './define-provider.ts'

/**
 * The most sets of parameters that are kept for each provider; models that get the same requests share one, so there
 * are usually few.
 */
const parameterSetsMax = 1_000

/** The members of a request that set a parameter, and those that this parameter needs. */
type Sample = Readonly<Record<string, unknown>>

const tools = [
  { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } },
]
const closedSchema = { type: 'object', properties: {}, required: [], additionalProperties: false }
const toSchema = {
  response_format: {
    type: 'json_schema',
    json_schema: { name: 'answer', schema: closedSchema, strict: true },
  },
}
const spoken = { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } }

/**
 * Samples by the contract's name of a parameter: an endpoint has the parameter when one of its samples can be sent
 * there. An older name (`functions`) counts as the newer one.
 */
const chatSamples: Readonly<Record<string, readonly Sample[]>> = {
  audio: [spoken],
  frequency_penalty: [{ frequency_penalty: 0.5 }],
  image_config: [{ image_config: { aspect_ratio: '1:1' } }],
  include_reasoning: [{ include_reasoning: true }],
  logit_bias: [{ logit_bias: { '50': 1 } }],
  logprobs: [{ logprobs: true }],
  max_completion_tokens: [{ max_completion_tokens: 9_000 }],
  max_tokens: [{ max_tokens: 9_000 }],
  min_p: [{ min_p: 0.1 }],
  modalities: [spoken],
  parallel_tool_calls: [{ tools, parallel_tool_calls: false }],
  prediction: [{ prediction: { type: 'content', content: 'Hello' } }],
  presence_penalty: [{ presence_penalty: 0.5 }],
  reasoning: [{ reasoning: { effort: 'medium' } }],
  reasoning_effort: [{ reasoning_effort: 'medium' }],
  repetition_penalty: [{ repetition_penalty: 1.1 }],
  response_format: [{ response_format: { type: 'json_object' } }, toSchema],
  seed: [{ seed: 1 }],
  stop: [{ stop: ['END'] }],
  structured_outputs: [toSchema],
  temperature: [{ temperature: 0.5 }],
  tool_choice: [{ tools, tool_choice: 'required' }],
  tools: [{ tools }],
  top_a: [{ top_a: 0.5 }],
  top_k: [{ top_k: 40 }],
  top_logprobs: [{ logprobs: true, top_logprobs: 2 }],
  top_p: [{ top_p: 0.5 }],
  verbosity: [{ verbosity: 'low' }],
  web_search_options: [{ web_search_options: {} }],
}

/** An interface may carry these for any model, but they mean nothing to a model that does not think. */
const reasoningParameters: ReadonlySet<string> = new Set([
  'reasoning',
  'reasoning_effort',
  'include_reasoning',
])

const embeddingsSamples: Readonly<Record<string, readonly Sample[]>> = {
  dimensions: [{ dimensions: 64 }],
  input_type: [{ input_type: 'search_query' }],
}

/** A call that sets one parameter and little else. */
interface Trial {
  name: string
  call: TextCall
}

/** Made once, when the first model is offered. */
const trials = new Map<TextFormat, readonly Trial[]>()

function trialsOf(format: 'chat' | 'embeddings'): readonly Trial[] {
  const known = trials.get(format)
  if (known) return known
  const made = format === 'chat' ? toTrials(chatSamples, toChat) : toTrials(embeddingsSamples, toEmbeddings)
  trials.set(format, made)
  return made
}

function toTrials(
  samples: Readonly<Record<string, readonly Sample[]>>,
  toCall: (sample: Sample) => TextCall,
): readonly Trial[] {
  return Object.entries(samples).flatMap(([name, some]) =>
    some.map((sample) => ({ name, call: toCall(sample) })),
  )
}

function toChat(sample: Sample): TextCall {
  const messages = [{ role: 'user', content: 'Hello' }]
  return chatCompletions.decode(bodyOf({ messages, ...sample }), { sessionIdHeader: null })
}

function toEmbeddings(sample: Sample): TextCall {
  return embeddings.decode(bodyOf({ input: 'Hello', ...sample }), { sessionIdHeader: null })
}

function bodyOf(members: Sample): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ model: 'any', ...members }))
}

/** The results so far, by the values that a request depends on. */
const known = new WeakMap<Adapters, Map<string, ReadonlySet<string>>>()

/**
 * The parameters that an endpoint of a provider with these adapters honours, by the contract's names; null for audio,
 * where routing checks each capability. They are found by writing a request with each parameter, so that the list
 * agrees with what `require_parameters` accepts; once for all models that get the same requests.
 */
export function supportedParameters(adapters: Adapters, endpoint: Endpoint): ReadonlySet<string> | null {
  const format = modalityRow(endpoint.modality).toldParameters
  if (format === null) return null
  const interfaces = textInterfacesOf(adapters, endpoint.modality)
  const trialsHere = trialsOf(format)
  const { model, upstreamModel, interfaces: listed } = endpoint
  const named = { model, upstreamModel, ...(listed ? { interfaces: listed } : {}), format } as const
  const chosenFor = ({ call: { parameters } }: Trial) => chooseInterface(interfaces, { ...named, parameters })
  const isSame = interfaces.every(({ serves }) => serves === undefined)
  // Every value that a request depends on besides the call.
  const key = JSON.stringify([
    format,
    endpoint.reasons,
    endpoint.outputTokensMax,
    isSame ? 0 : trialsHere.map((trial) => indexIn(interfaces, chosenFor(trial))),
    interfaces.map(({ quirks }) => quirks.modelOf?.(knownNameOf(endpoint)) ?? null),
  ])
  const sets = known.get(adapters) ?? new Map<string, ReadonlySet<string>>()
  known.set(adapters, sets)
  const found = sets.get(key)
  if (found) return found
  const honoured = trialsHere.filter(
    (trial) =>
      (endpoint.reasons || !reasoningParameters.has(trial.name)) &&
      carries(chosenFor(trial), trial.call, endpoint),
  )
  const parameters = new Set(honoured.map(({ name }) => name))
  if (sets.size >= parameterSetsMax) sets.clear()
  sets.set(key, parameters)
  return parameters
}

function indexIn(interfaces: readonly TextInterface[], chosen: TextInterface | null): number {
  return chosen === null ? -1 : interfaces.indexOf(chosen)
}

/** Whether the interface can carry the whole call. */
function carries(chosen: TextInterface | null, call: TextCall, endpoint: Endpoint): boolean {
  if (chosen === null) return false
  try {
    const { quirks } = chosen
    const codec = hasOwnCodec(quirks) ? quirks.codec : selectCodec(call.format, chosen.format)
    return lostParameters(codec.encodeRequest(call, endpoint, chosen.quirks)).length === 0
  } catch (error) {
    if (error instanceof GatewayError) return false
    throw error
  }
}
