import type { TextCall } from '../../canonical/call.ts'
import { knownNameOf, type Endpoint } from '../../canonical/endpoint.ts'
import type { AnswerContext, DecodedAnswer, UpstreamReply } from '../../canonical/upstream.ts'
import { noUsage } from '../../canonical/usage.ts'
import { fieldError } from '../../core/errors.ts'
import { hasMember, memberBytes, memberValue } from '../../json/document.ts'
import { isRecord, tokenCountOrNull } from '../../json/values.ts'
import type { TextCodec } from '../text/codec.ts'
import { readConverseFailure } from '../text/converse/errors.ts'
import type { EncodedRequest } from '../text/halves.ts'
import { startReading } from '../text/usage-readers.ts'
import { parseAnswer, unreadable } from '../upstream-json.ts'
import { encodeCohereEmbeddings } from '../embeddings/cohere.ts'
import { gatewayMembers, showVectors } from '../embeddings/embeddings-codec.ts'
import { countInputs, inputKindOf, textsOf } from '../embeddings/read-request.ts'
import { encodeFloats } from '../embeddings/vectors.ts'

/** Amazon's own models take one text in a request; so many requests follow each other for one call at most. */
export const singleInputsMax = 128
/** Titan's second version, which can cut its vectors. */
const cutsVectors = /titan-embed-text-v[2-9]/
const nova = /amazon[./]nova[\w-]*embed/
const titan = /amazon[./]titan-embed/
const countHeader = 'x-amzn-bedrock-input-token-count'

/** Vectors of several makers' models: Cohere's takes 96 texts at once, Amazon's Titan and Nova one. */
export const invokeCodec: TextCodec = {
  encodeRequest: (call, endpoint) => encodeOne(call, endpoint, 0) ?? encodeCohere(call, endpoint),
  encodeNext: (call, endpoint, answered) =>
    answered < countInputs(call.document) ? encodeOne(call, endpoint, answered) : null,
  decodeAnswers: decodeVectors,
  decodeAnswer: (bytes, context, _quirks, call) =>
    decodeVectors([{ headers: new Headers(), bytes }], context, call),
  createStream: () => {
    throw new Error('embeddings are never streamed')
  },
  readError: readConverseFailure,
}

/** The path names the model. */
function encodeCohere(call: TextCall, endpoint: Endpoint): EncodedRequest {
  return encodeCohereEmbeddings(call, endpoint, { namesModel: false })
}

const carried: ReadonlySet<string> = new Set(['model', 'input', 'dimensions', 'encoding_format'])

/** Nova's purposes, by the words that other providers use for them. */
const purposes: ReadonlyMap<unknown, string> = new Map([
  ['query', 'GENERIC_RETRIEVAL'],
  ['search_query', 'GENERIC_RETRIEVAL'],
  ['document', 'GENERIC_INDEX'],
  ['search_document', 'GENERIC_INDEX'],
  ['passage', 'GENERIC_INDEX'],
  ['classification', 'CLASSIFICATION'],
  ['clustering', 'CLUSTERING'],
])

/**
 * The request for one of the call's texts; null for a model that takes all at once. Throws `invalid_request` for inputs that
 * are not texts, and for too many.
 */
function encodeOne(call: TextCall, endpoint: Endpoint, index: number): EncodedRequest | null {
  const { document, model } = call
  const name = knownNameOf(endpoint)
  const isNova = nova.test(name)
  if (!isNova && !titan.test(name)) return null
  if (inputKindOf(document) !== 'text')
    throw fieldError('input', `must be text for ${model}: its provider takes nothing else.`)
  const count = countInputs(document)
  if (count > singleInputsMax)
    throw fieldError(
      'input',
      `has ${count} entries; ${model} takes at most ${singleInputsMax} in one request. Send them in several.`,
    )
  const left = [...document.members.keys()].filter(
    (member) => !carried.has(member) && !gatewayMembers.has(member) && hasMember(document, member),
  )
  const [dimensions, inputType] = [memberValue(document, 'dimensions'), memberValue(document, 'input_type')]
  const text = textAt(document, index)
  if (isNova) {
    const purpose = purposes.get(inputType)
    const params = JSON.stringify({
      embeddingPurpose: purpose ?? 'GENERIC_INDEX',
      ...(typeof dimensions === 'number' ? { embeddingDimension: dimensions } : {}),
    })
    const head = `{"taskType":"SINGLE_EMBEDDING","singleEmbeddingParams":${params.slice(0, -1)},"text":{"truncationMode":"NONE","value":`
    return { body: [head, text, '}}}'], dropped: left.filter((each) => each !== 'input_type' || !purpose) }
  }
  const isCut = typeof dimensions === 'number' && cutsVectors.test(name)
  if (typeof dimensions === 'number' && !isCut) left.push('dimensions')
  return { body: ['{"inputText":', text, isCut ? `,"dimensions":${dimensions}}` : '}'], dropped: left }
}

function textAt(document: TextCall['document'], index: number): Uint8Array {
  let at = 0
  for (const text of textsOf(document)) {
    if (at === index) return text
    at += 1
  }
  return memberBytes(document, 'input') ?? new Uint8Array()
}

/** Vectors of all replies, in the order of the texts. What was counted stands in Titan's bodies, and in a header of every reply. */
function decodeVectors(
  replies: readonly UpstreamReply[],
  context: AnswerContext,
  call: TextCall,
): DecodedAnswer {
  const wires = replies.map(({ bytes }) => parseAnswer(bytes))
  const vectors = wires.flatMap(vectorsOf)
  const count = countInputs(call.document)
  if (vectors.length !== count) throw unreadable(`it has not ${count} vectors`)
  const items = vectors.map((vector, index) => {
    const embedding = call.encodingFormat === 'base64' ? encodeFloats(vector) : vector
    return { object: 'embedding', index, embedding }
  })
  const reading = startReading({})
  const counts = replies.map(({ headers }, index) => {
    const told = tokenCountOrNull(wires[index]?.['inputTextTokenCount'])
    return told ?? tokenCountOrNull(Number(headers.get(countHeader) ?? Number.NaN))
  })
  if (!counts.includes(null)) {
    const inputTokens = counts.reduce<number>((sum, each) => sum + (each ?? 0), 0)
    reading.usage = { ...noUsage, inputTokens }
    reading.source = 'provider'
  }
  return showVectors({ data: JSON.stringify(items), reading }, context)
}

function vectorsOf(wire: Readonly<Record<string, unknown>>): readonly (readonly number[])[] {
  const { embedding, embeddings } = wire
  const listed = isRecord(embeddings) ? embeddings['float'] : embeddings
  const vectors: unknown = embedding === undefined ? listed : [embedding]
  if (!Array.isArray(vectors)) throw unreadable('it has no vectors')
  return vectors.map((each: unknown) => {
    const vector = isRecord(each) ? each['embedding'] : each
    const isVector =
      Array.isArray(vector) && vector.length > 0 && vector.every((value) => Number.isFinite(value))
    if (!isVector) throw unreadable('a vector is not a list of numbers')
    return vector as number[]
  })
}
