import type { BodyPiece } from '../../core/body.ts'
import type { TextCall } from '../../canonical/call.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import type { AnswerContext, DecodedAnswer } from '../../canonical/upstream.ts'
import { noUsage } from '../../canonical/usage.ts'
import { startReading } from '../text/usage-readers.ts'
import type { EncodedRequest } from '../text/halves.ts'
import { isRecord, tokenCountOrNull } from '../../json/values.ts'
import { encodeFloats } from './vectors.ts'
import { gatewayMembers, showVectors } from './embeddings-codec.ts'
import { countInputs, inputKindOf, textsOf } from './read-request.ts'
import { fieldError } from '../../core/errors.ts'
import { hasMember, memberValue } from '../../json/document.ts'
import { readReportedError } from '../upstream-errors.ts'
import { parseAnswer, unreadable } from '../upstream-json.ts'

/** Gemini's task types, by the words that other providers use for them. */
const tasks: ReadonlyMap<unknown, string> = new Map([
  ['query', 'RETRIEVAL_QUERY'],
  ['search_query', 'RETRIEVAL_QUERY'],
  ['document', 'RETRIEVAL_DOCUMENT'],
  ['search_document', 'RETRIEVAL_DOCUMENT'],
  ['passage', 'RETRIEVAL_DOCUMENT'],
  ['classification', 'CLASSIFICATION'],
  ['clustering', 'CLUSTERING'],
])

const carried: ReadonlySet<string> = new Set([
  'model',
  'input',
  'dimensions',
  'encoding_format',
  'input_type',
])

/**
 * Writes the caller's texts as requests of `batchEmbedContents`, one for each text; the bytes of the texts are
 * unchanged. Throws `invalid_request` for inputs that are not texts, and for too many.
 */
export function encodeGeminiEmbeddings(
  call: TextCall,
  endpoint: Endpoint,
  { embeddingInputsMax }: { embeddingInputsMax: number },
): EncodedRequest {
  const { document, model } = call
  if (inputKindOf(document) !== 'text')
    throw fieldError('input', `must be text for ${model}: its provider takes nothing else.`)
  const count = countInputs(document)
  if (count > embeddingInputsMax) {
    throw fieldError(
      'input',
      `has ${count} entries; ${model} takes at most ${embeddingInputsMax} in one request. Send them in several.`,
    )
  }
  const inputType = memberValue(document, 'input_type')
  const task = tasks.get(inputType)
  const dimensions = memberValue(document, 'dimensions')
  const rest = JSON.stringify({
    model: `models/${endpoint.upstreamModel}`,
    ...(task === undefined ? {} : { taskType: task }),
    ...(typeof dimensions === 'number' ? { outputDimensionality: dimensions } : {}),
  })
  const body: BodyPiece[] = []
  for (const text of textsOf(document)) {
    body.push(`${body.length === 0 ? '{"requests":[' : ','}{"content":{"parts":[{"text":`, text)
    body.push(`}]},${rest.slice(1)}`)
  }
  const left = [...document.members.keys()].filter(
    (name) => !carried.has(name) && !gatewayMembers.has(name) && hasMember(document, name),
  )
  const isTypeLost = hasMember(document, 'input_type') && task === undefined
  return { body: [...body, ']}'], dropped: isTypeLost ? [...left, 'input_type'] : left }
}

/** Encodes the provider's vectors, which are in the order of the texts, as the caller asked. */
export function decodeGeminiEmbeddings(
  bytes: Uint8Array,
  context: AnswerContext,
  call: TextCall,
): DecodedAnswer {
  const wire = parseAnswer(bytes)
  if (isRecord(wire['error'])) throw readReportedError(wire['error'], context)
  const { embeddings } = wire
  const count = countInputs(call.document)
  if (!Array.isArray(embeddings) || embeddings.length !== count)
    throw unreadable(`it has not ${count} vectors`)
  // Gemini does not normalize vectors that it cuts to fewer dimensions.
  const isCut = hasMember(call.document, 'dimensions')
  const items = embeddings.map((each: unknown, index) => {
    const values = valuesOf(each)
    const vector = isCut ? normalized(values) : values
    const embedding = call.encodingFormat === 'base64' ? encodeFloats(vector) : vector
    return { object: 'embedding', index, embedding }
  })
  return showVectors({ data: JSON.stringify(items), reading: readingOf(wire) }, context)
}

function valuesOf(wire: unknown): readonly number[] {
  const values = isRecord(wire) ? wire['values'] : null
  const isVector =
    Array.isArray(values) && values.length > 0 && values.every((value) => Number.isFinite(value))
  if (!isVector) throw unreadable('a vector is not a list of numbers')
  return values
}

/** A vector of the same direction with length 1. */
function normalized(values: readonly number[]): readonly number[] {
  const length = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0))
  return length === 0 ? values : values.map((value) => value / length)
}

/** Older models report no counts; the gateway then estimates them. */
function readingOf(wire: Readonly<Record<string, unknown>>) {
  const reading = startReading(wire)
  const usage = isRecord(wire['usageMetadata']) ? wire['usageMetadata'] : {}
  const inputTokens =
    tokenCountOrNull(usage['promptTokenCount']) ?? tokenCountOrNull(usage['totalTokenCount'])
  if (inputTokens !== null) {
    reading.usage = { ...noUsage, inputTokens }
    reading.source = 'provider'
  }
  return reading
}
