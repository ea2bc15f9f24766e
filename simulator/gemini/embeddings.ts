import type { Call } from '../call.ts'
import * as check from '../checks.ts'
import { vectorOf } from '../embeddings.ts'
import { invalidRequest } from '../errors.ts'
import { isObject, type JsonObject } from '../json.ts'
import { jsonReply, type Reply } from '../reply.ts'
import { readContent, textOf } from './contents.ts'
import { findGoogleModel, type GoogleModel } from './models.ts'

const batchMax = 100
const fields: Record<string, check.Check> = {
  model: check.string(),
  content: check.object,
  taskType: check.string(),
  title: check.string(),
  outputDimensionality: check.integer(1),
}

/** `POST /models/{model}:batchEmbedContents`. Throws `ApiError`. */
export function batchEmbedContents(call: Call, name: string): Reply {
  const model = findGoogleModel(name, 'embedding', call.faults.anyModel)
  check.checkMembers(call.body, {
    fields: { requests: check.listOf(check.object) },
    required: ['requests'],
    strict: call.faults.lenient !== true,
  })
  const requests = Array.isArray(call.body['requests']) ? call.body['requests'].filter(isObject) : []
  if (requests.length > batchMax)
    throw invalidRequest(
      `* BatchEmbedContentsRequest.requests: at most ${batchMax} requests can be in one batch`,
    )
  const embeddings = requests.map((request, at) => {
    if (request['model'] !== `models/${name}`)
      throw invalidRequest(`* BatchEmbedContentsRequest.requests[${at}].model: unexpected model name format`)
    return { values: valuesOf(request, model) }
  })
  return jsonReply(JSON.stringify({ embeddings }))
}

/** `POST /models/{model}:embedContent`. Throws `ApiError`. */
export function embedContent(call: Call, name: string): Reply {
  const model = findGoogleModel(name, 'embedding', call.faults.anyModel)
  return jsonReply(JSON.stringify({ embedding: { values: valuesOf(call.body, model) } }))
}

/** Cut vectors are not normalised again. */
function valuesOf(request: JsonObject, model: GoogleModel): number[] {
  check.checkMembers(request, { fields, required: ['content'], strict: true })
  const text = textOf(readContent(request['content'], 'content', false))
  if (text === '') throw invalidRequest('* EmbedContentRequest.content: contains an empty Part.')
  const whole = model.dimensions ?? 768
  const asked = request['outputDimensionality']
  const kept = typeof asked === 'number' ? asked : whole
  if (kept > whole) throw invalidRequest(`outputDimensionality must be at most ${whole}.`)
  return Array.from(vectorOf(text, whole, whole).subarray(0, kept), (value) => Number(value.toPrecision(9)))
}
