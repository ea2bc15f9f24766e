import type { AudioAsked } from '../audio/audio-api.ts'
import * as check from '../checks.ts'
import { vectorOf } from '../embeddings.ts'
import { ApiError, invalidRequest } from '../errors.ts'
import { jsonReply, type Reply } from '../reply.ts'
import { countTokens } from '../tokens.ts'
import { distortUsage } from '../usage.ts'

// After https://docs.cohere.com/reference/embed and recordings of its replies.

/** The models of vectors, with the dimensions of each. */
export const embedModels: ReadonlyMap<string, readonly number[]> = new Map([
  ['embed-v4.0', [256, 512, 1_024, 1_536]],
  ['embed-english-v3.0', [1_024]],
  ['embed-multilingual-v3.0', [1_024]],
])

const textsMax = 96
const fields: Record<string, check.Check> = {
  model: check.string(),
  texts: check.listOf(check.string()),
  images: check.listOf(check.string(), 1),
  inputs: check.listOf(check.object),
  input_type: check.oneOf('search_document', 'search_query', 'classification', 'clustering', 'image'),
  embedding_types: check.listOf(check.oneOf('float', 'int8', 'uint8', 'binary', 'ubinary', 'base64')),
  output_dimension: check.integer(1),
  truncate: check.oneOf('NONE', 'START', 'END'),
  max_tokens: check.integer(1),
  priority: check.integer(0),
}

/** `POST /v2/embed`. Throws `ApiError` for requests that Cohere refuses. */
export function embed({ json, faults, key }: AudioAsked): Reply {
  const body = json ?? {}
  check.checkMembers(body, {
    fields,
    required: ['model', 'input_type', 'texts'],
    strict: faults.lenient !== true,
  })
  const name = String(body['model'])
  const dimensions = embedModels.get(name)
  if (dimensions === undefined)
    throw new ApiError({
      status: 404,
      message: `model '${name}' not found, make sure the correct model ID was used and that you have access to the model.`,
    })
  const texts = body['texts'] as string[]
  if (texts.length === 0 || texts.length > textsMax)
    throw invalidRequest(`invalid request: at least 1 and at most ${textsMax} texts are allowed.`)
  const full = dimensions.at(-1) ?? 0
  const wanted = typeof body['output_dimension'] === 'number' ? body['output_dimension'] : full
  if (!dimensions.includes(wanted))
    throw invalidRequest(`invalid request: output_dimension must be one of ${dimensions.join(', ')}.`)
  const vectors = texts.map((text) =>
    Array.from(vectorOf(text, full, wanted), (value) => Number(value.toPrecision(9))),
  )
  const billed = { input_tokens: texts.reduce((sum, text) => sum + countTokens(text), 0) }
  const meta = { api_version: { version: '2' }, billed_units: distortUsage(billed, faults.usage) }
  return jsonReply(
    JSON.stringify({
      id: key,
      embeddings: { float: vectors },
      texts,
      meta,
      response_type: 'embeddings_by_type',
    }),
  )
}
