import type { TextCall } from '../../canonical/call.ts'
import { fieldError } from '../../core/errors.ts'
import { memberParseBytesMax } from '../../core/limits/text.ts'
import {
  elementsOf,
  hasMember,
  type JsonDocument,
  leanMemberValue,
  memberBytes,
  memberValue,
} from '../../json/document.ts'
import { toBuffer } from '../../json/bytes.ts'
import { isRecord, recordOrNull } from '../../json/values.ts'
import { parseField } from '../field-error.ts'
import { parsePreferences } from '../preferences.ts'
import { type DecodeContext, decodeSessionId, documentOf } from '../text/decode-context.ts'
import { estimateTokens } from '../text/text-estimate.ts'
import { documentsMax, rerankRequestShape } from './request-schema.ts'

type FieldName = keyof typeof rerankRequestShape

/** Members that say how to rank, by the names that `require_parameters` uses. */
const parameterNames = ['top_n', 'max_tokens_per_doc'] as const

/** The options of a rerank request. A call has only the bytes, so these are read again where they are needed. */
export interface RerankWishes {
  query: string
  /** Null when the caller wants all documents back. */
  topN: number | null
  returnsDocuments: boolean
  maxTokensPerDocument: number | null
}

/**
 * Reads a rerank body as a call. Known members are checked, and an error names the wrong one. Throws `invalid_request`.
 */
export function decodeRerankRequest(bytes: Uint8Array, context: DecodeContext): TextCall {
  const document = documentOf(bytes, context)
  const fields = readFields(document)
  const model = fields['model']
  if (typeof model !== 'string') {
    throw fieldError('model', 'is missing. Name a model, such as "cohere/rerank-v3.5".')
  }
  const query = memberBytes(document, 'query')
  if (query === null || !hasMember(document, 'query')) {
    throw fieldError('query', 'is missing. Send what the documents are to be compared with.')
  }
  const documents = readDocuments(document)
  const { preferences, dropped } = parsePreferences(memberValue(document, 'provider'))
  return {
    kind: 'text',
    operation: 'rerank',
    format: 'rerank',
    model,
    fallbackModels: (fields['models'] as string[] | null | undefined) ?? [],
    preferences,
    parameters: parameterNames.filter((name) => hasMember(document, name)),
    demand: demandOf({ query, documents, bodyBytes: bytes.length }, wishesOf(document).maxTokensPerDocument),
    sessionId: decodeSessionId((fields['session_id'] as string | null | undefined) ?? null, context),
    userId: (fields['user'] as string | null | undefined) ?? null,
    trace: recordOrNull(fields['trace']),
    dropped,
    stream: false,
    document,
    encodingFormat: null,
  }
}

/** The members of the request besides its documents. The decoder has checked them. */
export function wishesOf(document: JsonDocument): RerankWishes {
  const numberAt = (name: 'top_n' | 'max_tokens_per_doc') =>
    hasMember(document, name) ? Number(memberValue(document, name)) : null
  return {
    query: String(memberValue(document, 'query')),
    topN: numberAt('top_n'),
    returnsDocuments: memberValue(document, 'return_documents') !== false,
    maxTokensPerDocument: numberAt('max_tokens_per_doc'),
  }
}

/** The documents as the caller sent them: each a JSON text or a JSON object, as bytes of the request. */
export function documentsOf(document: JsonDocument): Buffer[] {
  const list = memberBytes(document, 'documents')
  return list === null ? [] : elementsOf(toBuffer(list))
}

function readFields(document: JsonDocument): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  for (const [name, member] of document.members) {
    if (!isFieldName(name) || name === 'provider' || name === 'documents') continue
    if (member.valueEnd - member.valueStart > memberParseBytesMax) {
      throw fieldError(name, `must be at most ${memberParseBytesMax} bytes.`)
    }
    fields[name] = parseField<unknown>(rerankRequestShape[name], name, memberValue(document, name))
  }
  return fields
}

function isFieldName(name: string): name is FieldName {
  return Object.hasOwn(rerankRequestShape, name)
}

/** The documents of a large request are checked without building their longer texts. */
function readDocuments(document: JsonDocument): readonly Buffer[] {
  if (!hasMember(document, 'documents')) throw fieldError('documents', 'is missing. Send a list of texts.')
  const documents = leanMemberValue(document, 'documents')
  if (!Array.isArray(documents)) throw fieldError('documents', 'must be a list of texts or of objects.')
  if (documents.length === 0) throw fieldError('documents', 'is empty. Send at least one text.')
  if (documents.length > documentsMax) {
    throw fieldError(
      'documents',
      `has ${documents.length} entries; at most ${documentsMax} fit in one request.`,
    )
  }
  for (const [index, each] of documents.entries()) {
    const fault = typeof each === 'string' ? null : faultOf(each)
    if (fault !== null) throw fieldError(`documents[${index}]`, fault)
  }
  return documentsOf(document)
}

function faultOf(each: unknown): string | null {
  if (!isRecord(each)) return 'must be a text or an object with "text".'
  const { text = null, image = null } = each
  if (text !== null && typeof text !== 'string') return 'must have a text as "text".'
  if (image !== null && typeof image !== 'string') return 'must have an address or a data URL as "image".'
  return text === null && image === null ? 'must have "text" or "image".' : null
}

const openBrace = 0x7b

/**
 * Cohere bills a document in pieces of this many tokens, and counts the query in each piece; its price list says so.
 */
const pieceTokens = 500
/** The pieces that one search unit covers. */
const searchUnitPieces = 100
/** Cohere cuts documents to this many tokens unless the caller sets another limit. */
const documentTokensUsual = 4_096

interface Sent {
  query: Uint8Array
  documents: readonly Buffer[]
  bodyBytes: number
}

/**
 * A provider that bills tokens counts the query once for each document, because the model reads it with each of them.
 */
function demandOf({ query, documents, bodyBytes }: Sent, cut: number | null): TextCall['demand'] {
  const queryTokens = estimateTokens(query)
  const room = Math.max(pieceTokens / 2, pieceTokens - queryTokens)
  let tokens = 0
  let pieces = 0
  for (const document of documents) {
    const own = estimateTokens(document)
    tokens += own
    pieces += Math.max(1, Math.ceil(Math.min(own, cut ?? documentTokensUsual) / room))
  }
  const isSeen = documents.some((document) => document[0] === openBrace && document.includes(imageMark))
  return {
    inputTokens: tokens + queryTokens * documents.length,
    inputBytes: bodyBytes + query.length * documents.length,
    searchUnits: Math.ceil(pieces / searchUnitPieces),
    ...(isSeen ? { hasUncountedInput: true } : {}),
    outputTokensMax: 0,
    choices: 1,
    audioMilliseconds: 0,
    characters: 0,
  }
}

const imageMark = Buffer.from('"image"')
