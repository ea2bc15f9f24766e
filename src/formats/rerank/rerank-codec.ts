import type { TextCall } from '../../canonical/call.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import type { AnswerContext, DecodedAnswer, MeterReading } from '../../canonical/upstream.ts'
import { noUsage } from '../../canonical/usage.ts'
import type { BodyPiece, BodyPieces } from '../../core/body.ts'
import { fieldError } from '../../core/errors.ts'
import { editList, editPieces, hasMember, memberBytes } from '../../json/document.ts'
import { toBuffer } from '../../json/bytes.ts'
import { isRecord, recordOrNull, textOrNull, tokenCountOrNull } from '../../json/values.ts'
import type { TextCodec } from '../text/codec.ts'
import type { EncodedRequest } from '../text/halves.ts'
import { showCharge, showMetadata } from '../text/shown-charge.ts'
import { startReading } from '../text/usage-readers.ts'
import { readReportedError, readUpstreamFailure } from '../upstream-errors.ts'
import { unreadable } from '../upstream-json.ts'
import { documentsOf, type RerankWishes, wishesOf } from './read-request.ts'

/** Where a provider differs from Cohere's API, version 2, as data. */
export interface RerankOptions {
  /** The provider's name for `documents`. Default `documents`. */
  documentsField?: string
  /**
   * The provider's name for `top_n`; null when it always returns all documents, so that the gateway cuts the list.
   * Default `top_n`.
   */
  limitField?: string | null
  /** The provider's name for `max_tokens_per_doc`; null when it cannot cut documents. Default null. */
  cutField?: string | null
  /** The most documents of one request; null when no limit is known. Default null. */
  documentsMax?: number | null
  /**
   * Whether documents may be objects with `text` or `image`. Default false: the gateway sends their texts and refuses
   * pictures.
   */
  documentObjects?: boolean
  /** Whether the request names the model. Default true; false for a server that has only one. */
  namesModel?: boolean
  /** Members that every request sends, such as one that asks for an answer without the documents. */
  members?: Readonly<Record<string, unknown>>
  /** What happens to members that no format knows. Default `drop`. */
  unknownMembers?: 'forward' | 'drop'
}

/** Writes requests to a provider with these differences, and reads its answers. */
export function rerankCodec(options: Required<RerankOptions>): TextCodec {
  return {
    encodeRequest: (call, endpoint) => encodeRequest(call, endpoint, options),
    decodeAnswer: (bytes, context, _, call) => decodeAnswer(bytes, context, call),
    createStream() {
      throw new Error('an order of documents is never streamed')
    },
    readError: readUpstreamFailure,
  }
}

/** Members of a request that this format writes itself, or that only the gateway reads. */
const written: ReadonlySet<string> = new Set([
  'model',
  'documents',
  'top_n',
  'max_tokens_per_doc',
  'return_documents',
  'provider',
  'session_id',
  'trace',
  'models',
  'headrace',
  'user',
])

function encodeRequest(call: TextCall, endpoint: Endpoint, options: Required<RerankOptions>): EncodedRequest {
  const { document } = call
  const wishes = wishesOf(document)
  const set: Record<string, string | Uint8Array> = {}
  if (options.namesModel) set['model'] = JSON.stringify(endpoint.upstreamModel)
  set[options.documentsField] = documentsFor(call, options)
  if (options.limitField !== null && wishes.topN !== null)
    set[options.limitField] = String(Math.min(wishes.topN, documentsOf(document).length))
  const dropped: string[] = []
  if (wishes.maxTokensPerDocument !== null) {
    if (options.cutField === null) dropped.push('max_tokens_per_doc')
    else set[options.cutField] = String(wishes.maxTokensPerDocument)
  }
  for (const [name, value] of Object.entries(options.members)) set[name] = JSON.stringify(value)
  const unknown = [...document.members.keys()].filter((name) => !written.has(name) && name !== 'query')
  const isForwarded = options.unknownMembers === 'forward'
  if (!isForwarded) dropped.push(...unknown.filter((name) => hasMember(document, name)))
  return {
    body: editPieces(document, { set, remove: [...written, ...(isForwarded ? [] : unknown)] }),
    dropped,
  }
}

/** The list in the provider's form: the caller's own bytes, unless an object must become a text. */
function documentsFor({ document, model }: TextCall, options: Required<RerankOptions>): Uint8Array {
  const list = toBuffer(memberBytes(document, 'documents') ?? new Uint8Array())
  const { documentsMax } = options
  if (documentsMax !== null) {
    const count = documentsOf(document).length
    if (count > documentsMax) {
      throw fieldError('documents', `has ${count} entries; the provider of ${model} takes ${documentsMax}.`)
    }
  }
  if (options.documentObjects || !list.includes(openBrace)) return list
  return editList(list, (element, index) => {
    if (element[0] !== openBrace) return element
    const { text, image } = partsOf(element)
    if (image !== null || text === null) {
      throw fieldError(`documents[${index}]`, `must be a text for ${model}: its provider takes no pictures.`)
    }
    return Buffer.from(JSON.stringify(text))
  })
}

const openBrace = 0x7b

function partsOf(element: Buffer): { text: string | null; image: string | null } {
  const wire = recordOrNull(JSON.parse(element.toString('utf8')))
  return { text: textOrNull(wire?.['text']), image: textOrNull(wire?.['image']) }
}

/** One document with its score. */
interface Ranked {
  index: number
  score: number
}

/**
 * Writes a provider's scores in the contract's form: by falling score, as many as the caller asked for, with the
 * documents of the request. Throws `provider_failed` when the answer names a document twice, names one that the request
 * does not have, or omits a score: a caller that takes the first results would not notice.
 */
function decodeAnswer(bytes: Uint8Array, context: AnswerContext, call: TextCall): DecodedAnswer {
  const wire = readWire(bytes)
  const error = isRecord(wire) ? (wire['error'] ?? null) : null
  if (error !== null) throw readReportedError(error, context)
  const documents = documentsOf(call.document)
  const wishes = wishesOf(call.document)
  const wanted = Math.min(wishes.topN ?? documents.length, documents.length)
  const ranked = readResults(wire, documents.length).slice(0, wanted)
  if (ranked.length < wanted)
    throw unreadable(`it has ${ranked.length} results, and ${wanted} were asked for`)
  const reading = readUsage(wire)
  return {
    reading,
    encode: (charge) => {
      const head = { id: context.generationId, model: context.model, provider: context.provider }
      const counted = charge.isEstimated || reading.usage === null ? charge.usage : reading.usage
      const usage = {
        ...(counted.searchUnits === 0 ? {} : { search_units: counted.searchUnits }),
        ...(counted.inputTokens === 0 ? {} : { total_tokens: counted.inputTokens }),
        ...showCharge(charge),
      }
      const tail = JSON.stringify({ usage, ...showMetadata(charge) })
      return [
        `${JSON.stringify(head).slice(0, -1)},"results":[`,
        ...resultPieces(ranked, documents, wishes),
        `],${tail.slice(1)}`,
      ]
    },
  }
}

function resultPieces(
  ranked: readonly Ranked[],
  documents: readonly Buffer[],
  { returnsDocuments }: RerankWishes,
): BodyPieces {
  const pieces: BodyPiece[] = []
  for (const [place, { index, score }] of ranked.entries()) {
    const comma = place === 0 ? '' : ','
    const start = `${comma}{"index":${index},"relevance_score":${JSON.stringify(score)}`
    const document = documents[index]
    if (!returnsDocuments || document === undefined) {
      pieces.push(`${start}}`)
      continue
    }
    // A text passes unchanged; of an object, only the members that the contract has.
    if (document[0] === openBrace) {
      const { text, image } = partsOf(document)
      const shown = { ...(text === null ? {} : { text }), ...(image === null ? {} : { image }) }
      pieces.push(`${start},"document":${JSON.stringify(shown)}}`)
    } else pieces.push(`${start},"document":{"text":`, document, '}}')
  }
  return pieces
}

function readWire(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(toBuffer(bytes).toString('utf8'))
  } catch (cause) {
    throw unreadable('it is not JSON', cause)
  }
}

/**
 * Cohere and most providers send `results`, Voyage sends `data`, and text-embeddings-inference sends a bare list with
 * `score` as the score.
 */
function readResults(wire: unknown, documentCount: number): Ranked[] {
  const list = isRecord(wire) ? (wire['results'] ?? wire['data']) : wire
  if (!Array.isArray(list)) throw unreadable('it has no results')
  const seen = new Set<number>()
  const ranked = list.map((entry: unknown): Ranked => {
    const result = recordOrNull(entry)
    const index = tokenCountOrNull(result?.['index'])
    const score = result?.['relevance_score'] ?? result?.['score']
    if (index === null || index >= documentCount || seen.has(index))
      throw unreadable('a result is of no document, or of one that had a result before')
    if (typeof score !== 'number' || !Number.isFinite(score)) throw unreadable('a result has no score')
    seen.add(index)
    return { index, score }
  })
  return ranked.toSorted((a, b) => b.score - a.score)
}

/** Reads search units when the provider bills them, otherwise tokens; some providers report both. */
function readUsage(wire: unknown): MeterReading {
  const answer = recordOrNull(wire) ?? {}
  const reading = startReading(answer)
  const usage = recordOrNull(answer['usage'])
  const meta = recordOrNull(answer['meta'])
  const billed = recordOrNull(meta?.['billed_units'])
  const tokens = recordOrNull(meta?.['tokens'])
  const searchUnits = tokenCountOrNull(billed?.['search_units']) ?? tokenCountOrNull(usage?.['search_units'])
  const counts = [
    tokenCountOrNull(usage?.['total_tokens']),
    tokenCountOrNull(usage?.['prompt_tokens']),
    tokenCountOrNull(tokens?.['input_tokens']),
    tokenCountOrNull(billed?.['input_tokens']),
  ].filter((count) => count !== null)
  if (searchUnits === null && counts.length === 0) return reading
  reading.usage = { ...noUsage, searchUnits: searchUnits ?? 0, inputTokens: Math.max(0, ...counts) }
  reading.source = 'provider'
  return reading
}
