import type { Call } from './call.ts'
import * as check from './checks.ts'
import { invalidRequest } from './errors.ts'
import type { JsonObject } from './json.ts'
import { embeddingCallTokensMax, embeddingInputsMax, embeddingInputTokensMax } from './limits.ts'
import { findModel, type Model } from './models.ts'
import { jsonReply, type Reply } from './reply.ts'
import { countTokens } from './tokens.ts'
import { distortUsage } from './usage.ts'

const fields: Record<string, check.Check> = {
  model: check.string(),
  input: check.either(
    check.string(),
    check.listOf(check.either(check.string(), check.integer(0), check.listOf(check.integer(0)))),
  ),
  dimensions: check.integer(1),
  encoding_format: check.oneOf('float', 'base64'),
  user: check.string(),
}

/** The encoding of a host that quantises its vectors. */
const int8Fields = { ...fields, encoding_format: check.oneOf('base64_int8') }

/** One input: the key of its vector, and its tokens. */
interface EmbeddingInput {
  key: string
  tokens: number
}

/** `POST /embeddings`. Throws `ApiError` for requests that OpenAI refuses. */
export function embeddings(call: Call): Reply {
  const { body, faults } = call
  check.checkMembers(body, {
    fields: faults.int8 === true ? int8Fields : fields,
    required: ['model', 'input'],
    strict: faults.lenient !== true,
  })
  const model = findModel(body['model'], 'embedding')
  const inputs = parseInputs(body['input'])
  const dimensions = parseDimensions(body['dimensions'], model)
  const encoding = faults.int8 === true ? 'base64_int8' : body['encoding_format']
  const data = inputs.map((input, index) => {
    const vector = vectorOf(input.key, model.dimensions ?? dimensions, dimensions)
    return { object: 'embedding', index, embedding: encode(vector, encoding) }
  })
  if (faults.outOfOrder === true) data.reverse()
  const tokens = inputs.reduce((sum, input) => sum + input.tokens, 0)
  const usage: JsonObject = { prompt_tokens: tokens, total_tokens: tokens }
  return jsonReply(
    JSON.stringify({ object: 'list', data, model: model.id, usage: distortUsage(usage, faults.usage) }),
  )
}

function parseInputs(input: unknown): EmbeddingInput[] {
  const list = listOfInputs(input)
  if (list.length === 0)
    throw invalidRequest("Invalid 'input': at least one entry is expected.", 'input', 'empty_array')
  if (list.length > embeddingInputsMax) {
    const message = `Invalid 'input': at most ${embeddingInputsMax} entries are allowed, got ${list.length}.`
    throw invalidRequest(message, 'input', 'array_above_max_length')
  }
  const inputs = list.map((entry, index) => parseInput(entry, list.length > 1 ? `input[${index}]` : 'input'))
  const tokens = inputs.reduce((sum, one) => sum + one.tokens, 0)
  if (tokens <= embeddingCallTokensMax) return inputs
  const message = `Requested ${tokens} tokens, at most ${embeddingCallTokensMax} are allowed in one request.`
  throw invalidRequest(message, 'input', 'max_tokens_per_request')
}

/** A plain list of numbers is one input, every other list is a list of inputs. */
function listOfInputs(input: unknown): unknown[] {
  if (!Array.isArray(input)) return [input]
  if (typeof input[0] !== 'number') return input
  check.listOf(check.integer(0))(input, 'input')
  return [input]
}

function parseInput(entry: unknown, param: string): EmbeddingInput {
  if (typeof entry === 'number') check.string()(entry, param)
  const isTokens = Array.isArray(entry)
  const key = isTokens ? `tokens:${entry.join(',')}` : String(entry)
  const tokens = isTokens ? entry.length : countTokens(key)
  if (tokens === 0) throw invalidRequest(`Invalid '${param}': it must not be empty.`, param, 'invalid_value')
  if (tokens <= embeddingInputTokensMax) return { key, tokens }
  const message = `This model's maximum context length is ${embeddingInputTokensMax} tokens, '${param}' has ${tokens}.`
  throw invalidRequest(message, param, 'context_length_exceeded')
}

function parseDimensions(value: unknown, model: Model): number {
  const most = model.dimensions ?? 0
  if (typeof value !== 'number') return most
  if (value <= most) return value
  throw invalidRequest(
    `Invalid 'dimensions': at most ${most} for this model, got ${value}.`,
    'dimensions',
    'invalid_value',
  )
}

/**
 * A unit vector that depends on the text alone. A shorter one is the beginning of the full one, normalised again, as the
 * real models do it.
 */
export function vectorOf(key: string, full: number, dimensions: number): Float32Array {
  const values = new Float64Array(full)
  let state = Bun.hash.xxHash32(key) | 1
  for (let at = 0; at < full; at++) {
    // Xorshift: a full period over all non-zero states, and fast enough for thousands of vectors.
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    values[at] = state / 2 ** 31
  }
  const kept = values.subarray(0, dimensions)
  const length = Math.sqrt(kept.reduce((sum, value) => sum + value * value, 0))
  return Float32Array.from(kept, (value) => value / length)
}

/** The shortest usual decimal that reads back as the same 32-bit number, so that both encodings carry equal vectors. */
function shortest(value: number): number {
  return Number(value.toPrecision(9))
}

function encode(vector: Float32Array, encoding: unknown): string | number[] {
  if (encoding === 'base64_int8')
    return Buffer.from(Int8Array.from(vector, signedByte).buffer).toString('base64')
  return encoding === 'base64' ? toBase64(vector) : Array.from(vector, shortest)
}

/** A member of a unit vector as a share of the largest signed byte. */
function signedByte(value: number): number {
  return Math.round(value * 127)
}

function toBase64(vector: Float32Array): string {
  const view = new DataView(new ArrayBuffer(vector.length * 4))
  for (const [at, value] of vector.entries()) view.setFloat32(at * 4, value, true)
  return Buffer.from(view.buffer).toString('base64')
}
