import type { TextCall } from '../../canonical/call.ts'
import { knownNameOf, type Endpoint } from '../../canonical/endpoint.ts'
import type { AnswerContext, DecodedAnswer } from '../../canonical/upstream.ts'
import { noUsage } from '../../canonical/usage.ts'
import { fieldError } from '../../core/errors.ts'
import { hasMember, memberBytes, memberValue } from '../../json/document.ts'
import { isRecord, tokenCountOrNull } from '../../json/values.ts'
import type { EncodedRequest } from '../text/halves.ts'
import { startReading } from '../text/usage-readers.ts'
import { parseAnswer, unreadable } from '../upstream-json.ts'
import { gatewayMembers, showVectors } from './embeddings-codec.ts'
import { countInputs, inputKindOf } from './read-request.ts'
import { encodeFloats } from './vectors.ts'

/** The most texts of one request. */
export const cohereInputsMax = 96

/** Cohere's types of inputs, by the words that other providers use for them. */
const inputTypes: ReadonlyMap<unknown, string> = new Map([
  ['query', 'search_query'],
  ['search_query', 'search_query'],
  ['document', 'search_document'],
  ['passage', 'search_document'],
  ['search_document', 'search_document'],
  ['classification', 'classification'],
  ['clustering', 'clustering'],
])
/** It requires a type; a text that is kept to be found is the usual one. */
const usualType = 'search_document'

/** Vectors of these have one length. */
const uncut = /embed-(?:english|multilingual)-(?:light-)?v[23]/

const carried: ReadonlySet<string> = new Set([
  'model',
  'input',
  'dimensions',
  'encoding_format',
  'input_type',
  'truncate',
])

/** Writes the caller's texts; their bytes are unchanged. Throws `invalid_request` for inputs that are not texts, and for too many. */
export function encodeCohereEmbeddings(
  { document, model }: TextCall,
  endpoint: Endpoint,
  { namesModel }: { namesModel: boolean } = { namesModel: true },
): EncodedRequest {
  if (inputKindOf(document) !== 'text')
    throw fieldError('input', `must be text for ${model}: its provider takes nothing else.`)
  const count = countInputs(document)
  if (count > cohereInputsMax)
    throw fieldError(
      'input',
      `has ${count} entries; ${model} takes at most ${cohereInputsMax} in one request. Send them in several.`,
    )
  const asked = memberValue(document, 'input_type')
  const [dimensions, truncate] = [memberValue(document, 'dimensions'), memberValue(document, 'truncate')]
  const isCut = typeof dimensions === 'number' && !uncut.test(knownNameOf(endpoint))
  const head = JSON.stringify({
    ...(namesModel ? { model: endpoint.upstreamModel } : {}),
    input_type: inputTypes.get(asked) ?? usualType,
    embedding_types: ['float'],
    ...(isCut ? { output_dimension: dimensions } : {}),
    ...(typeof truncate === 'string' ? { truncate } : {}),
  })
  const input = memberBytes(document, 'input') ?? new Uint8Array()
  const isOne = typeof memberValue(document, 'input') === 'string'
  const left = [...document.members.keys()].filter(
    (name) => !carried.has(name) && !gatewayMembers.has(name) && hasMember(document, name),
  )
  if (typeof dimensions === 'number' && !isCut) left.push('dimensions')
  const isTypeLost = hasMember(document, 'input_type') && !inputTypes.has(asked)
  return {
    body: [`${head.slice(0, -1)},"texts":${isOne ? '[' : ''}`, input, isOne ? ']}' : '}'],
    dropped: isTypeLost ? [...left, 'input_type'] : left,
  }
}

/** Encodes the provider's vectors, which are in the order of the texts, as the caller asked. */
export function decodeCohereEmbeddings(
  bytes: Uint8Array,
  context: AnswerContext,
  call: TextCall,
): DecodedAnswer {
  const wire = parseAnswer(bytes)
  const vectors = vectorsOf(wire['embeddings'])
  const count = countInputs(call.document)
  if (vectors.length !== count) throw unreadable(`it has not ${count} vectors`)
  const items = vectors.map((vector, index) => {
    const embedding = call.encodingFormat === 'base64' ? encodeFloats(vector) : vector
    return { object: 'embedding', index, embedding }
  })
  const reading = startReading(wire)
  const meta = isRecord(wire['meta']) ? wire['meta'] : {}
  const billed = isRecord(meta['billed_units']) ? meta['billed_units'] : {}
  const inputTokens = tokenCountOrNull(billed['input_tokens'])
  if (inputTokens !== null) {
    reading.usage = { ...noUsage, inputTokens }
    reading.source = 'provider'
  }
  return showVectors({ data: JSON.stringify(items), reading }, context)
}

function vectorsOf(embeddings: unknown): readonly (readonly number[])[] {
  const floats = isRecord(embeddings) ? embeddings['float'] : null
  if (!Array.isArray(floats)) throw unreadable('it has no vectors')
  return floats.map((vector: unknown) => {
    const isVector =
      Array.isArray(vector) && vector.length > 0 && vector.every((value) => Number.isFinite(value))
    if (!isVector) throw unreadable('a vector is not a list of numbers')
    return vector as number[]
  })
}
