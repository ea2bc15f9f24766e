import type { TextCall } from '../../canonical/call.ts'
import { hasMember, type JsonDocument, memberBytes, memberValue } from '../../json/document.ts'
import { skipSpace, skipValue } from '../../json/scan.ts'
import { isDigit, toBuffer } from '../../json/bytes.ts'
import { lookInto } from '../../json/set-aside-texts.ts'
import { embeddingInputsMax, memberParseBytesMax } from '../../core/limits/text.ts'
import { isRecord, isWholeNumber } from '../../json/values.ts'
import { type DecodeContext, decodeSessionId, documentOf } from '../text/decode-context.ts'
import { parseField } from '../field-error.ts'
import { fieldError } from '../../core/errors.ts'
import { parsePreferences } from '../preferences.ts'
import { estimateTokens } from '../text/text-estimate.ts'
import { embeddingsRequestShape } from './request-schema.ts'

const comma = 0x2c
const openBrace = 0x7b
const openBracket = 0x5b
const quote = 0x22

/** The kind of an `input`; `content` means parts of several modalities. */
export type InputKind = 'text' | 'tokens' | 'content'

type FieldName = keyof typeof embeddingsRequestShape

interface Fields {
  model?: string
  models?: string[] | null
  encoding_format?: 'float' | 'base64' | null
  user?: string | null
  session_id?: string | null
  trace?: Record<string, unknown> | null
}

/** Occurs in every part that names media by URL. */
const addressMark = Buffer.from('_url"')

const capabilities = ['dimensions', 'encoding_format', 'input_type'] as const

/**
 * Reads an embeddings body as a call. Known members are checked, and an error names the wrong one; of a large `input`
 * only the structure is checked. Throws `invalid_request`.
 */
export function decodeEmbeddingsRequest(bytes: Uint8Array, context: DecodeContext): TextCall {
  const document = documentOf(bytes, context)
  const fields = readFields(document)
  if (fields.model === undefined) {
    throw fieldError('model', 'is missing. Name a model, such as "openai/text-embedding-3-small".')
  }
  const input = readInput(document)
  const { preferences, dropped } = parsePreferences(memberValue(document, 'provider'))
  return {
    kind: 'text',
    operation: 'embeddings',
    format: 'embeddings',
    model: fields.model,
    fallbackModels: fields.models ?? [],
    preferences,
    // The gateway converts between encodings, so no provider needs the capability.
    parameters: capabilities.filter((name) => name !== 'encoding_format' && hasMember(document, name)),
    demand: {
      inputTokens: estimateTokens(input),
      inputBytes: bytes.length,
      // Each provider counts pictures in its own way, whether they are sent inline or by URL.
      ...(toBuffer(input).includes(addressMark) ? { hasUncountedInput: true } : {}),
      outputTokensMax: 0,
      choices: 1,
      audioMilliseconds: 0,
      characters: 0,
    },
    sessionId: decodeSessionId(fields.session_id ?? null, context),
    userId: fields.user ?? null,
    trace: fields.trace ?? null,
    dropped,
    stream: false,
    document,
    encodingFormat: fields.encoding_format ?? 'float',
  }
}

function readFields(document: JsonDocument): Fields {
  const fields: Record<string, unknown> = {}
  for (const [name, member] of document.members) {
    if (!isFieldName(name) || name === 'provider' || name === 'input') continue
    if (member.valueEnd - member.valueStart > memberParseBytesMax) {
      throw fieldError(name, `must be at most ${memberParseBytesMax} bytes.`)
    }
    fields[name] = parseField<unknown>(embeddingsRequestShape[name], name, memberValue(document, name))
  }
  return fields
}

function isFieldName(name: string): name is FieldName {
  return Object.hasOwn(embeddingsRequestShape, name)
}

function readInput(document: JsonDocument): Uint8Array {
  const bytes = memberBytes(document, 'input')
  if (bytes === null || !hasMember(document, 'input')) {
    throw fieldError('input', 'is missing. Send a text or a list of texts.')
  }
  const isOneOf = bytes[0] === quote || bytes[0] === openBracket
  if (!isOneOf) throw fieldError('input', 'must be a text, a list of texts, or token numbers.')
  if (bytes.length <= memberParseBytesMax) checkInput(memberValue(document, 'input'))
  return bytes
}

/**
 * Written by hand, because a union of schemas cannot tell which alternative the caller meant, and so which entry is
 * wrong.
 */
function checkInput(input: unknown): void {
  // Providers differ on empty texts, so the provider decides.
  if (!Array.isArray(input)) return
  if (input.length === 0) throw fieldError('input', 'is empty. Send at least one text.')
  const kind = kindOf(input[0])
  // One input may have thousands of tokens; only the number of inputs is bounded.
  if (kind !== 'a token number' && input.length > embeddingInputsMax) {
    throw fieldError(
      'input',
      `has ${input.length} entries; at most ${embeddingInputsMax} fit in one request.`,
    )
  }
  for (const [index, entry] of input.entries()) {
    const found = kindOf(entry)
    if (found === null) throw fieldError(`input[${index}]`, 'must be a text or token numbers.')
    if (found !== kind) throw fieldError(`input[${index}]`, `must be ${kind}, like the entries before it.`)
  }
}

function kindOf(entry: unknown): string | null {
  if (typeof entry === 'string') return 'a text'
  if (isWholeNumber(entry)) return 'a token number'
  if (Array.isArray(entry))
    return entry.length > 0 && entry.every(isWholeNumber) ? 'a list of token numbers' : null
  return isRecord(entry) && Array.isArray(entry['content']) ? 'an object with content' : null
}

/** The kind of the input, judged by its first bytes; the decoder checked the rest. */
export function inputKindOf(document: JsonDocument): InputKind {
  const bytes = memberBytes(document, 'input') ?? new Uint8Array()
  for (const byte of bytes) {
    if (byte === quote) return 'text'
    if (byte === openBrace) return 'content'
    if (isDigit(byte)) return 'tokens'
  }
  return 'text'
}

/**
 * The number of inputs, and so of vectors to expect: the entries of a list, or 1 for a single text or row of token
 * numbers.
 */
export function countInputs(document: JsonDocument): number {
  const bytes = lookInto(document, 'input')?.bytes ?? Buffer.alloc(0)
  if (bytes[0] !== openBracket) return 1
  let position = skipSpace(bytes, 1)
  if (isDigit(bytes[position] ?? 0)) return 1
  // Rows of numbers hold only numbers, so counting the brackets is enough; there may be very many numbers.
  if (bytes[position] === openBracket) return countOf(openBracket, bytes) - 1
  for (let count = 1; ; count += 1) {
    position = skipSpace(bytes, skipValue(bytes, position))
    if (bytes[position] !== comma) return count
    position = skipSpace(bytes, position + 1)
  }
}

/** The JSON of each text, with its escapes: of a single text, or of every entry of a list. */
export function* textsOf(document: JsonDocument): Generator<Buffer> {
  const input = toBuffer(memberBytes(document, 'input') ?? new Uint8Array())
  if (input[0] !== openBracket) {
    yield input
    return
  }
  let position = skipSpace(input, 1)
  while (input[position] === quote) {
    const end = skipValue(input, position)
    yield input.subarray(position, end)
    // Skips the comma.
    position = skipSpace(input, skipSpace(input, end) + 1)
  }
}

function countOf(byte: number, bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(byte); at !== -1; at = bytes.indexOf(byte, at + 1)) count += 1
  return count
}
