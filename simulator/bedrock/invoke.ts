import type { IncomingHttpHeaders } from 'node:http'
import type { Call } from '../call.ts'
import * as check from '../checks.ts'
import { vectorOf } from '../embeddings.ts'
import { invalidRequest } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { messages } from '../messages/messages.ts'
import type { Mount } from '../mounts.ts'
import { jsonReply, type Reply } from '../reply.ts'
import { countTokens } from '../tokens.ts'
import { eventFrame, exceptionFrame } from './frames.ts'

/** `POST /model/{model}/invoke` and `…/invoke-with-response-stream`: the body is that of the model's maker. */
export const invokePath = /^\/model\/([^/]+)\/(invoke|invoke-with-response-stream)$/

const geography = /^(?:us|us-gov|eu|apac|jp|au|ca|sa|global)\./
const bodyVersion = 'bedrock-2023-05-31'
const countHeader = 'x-amzn-bedrock-input-token-count'

/** Answers a request. Throws `ApiError` for requests that the service refuses. */
export function invoke(path: string, call: Call, mount: Mount): Reply {
  const [, named = '', action] = invokePath.exec(path) ?? []
  const model = decodeURIComponent(named).replace(geography, '')
  if (model.startsWith('anthropic.')) return claude(model, { call, mount, isStream: action !== 'invoke' })
  if (action === 'invoke' && model.startsWith('amazon.titan-embed-text')) return titan(model, call)
  if (action === 'invoke' && /^amazon\.nova.*embed/.test(model)) return nova(call)
  if (action === 'invoke' && model.startsWith('cohere.embed')) return cohere(call)
  throw invalidRequest('The provided model identifier is invalid.')
}

interface ClaudeCall {
  call: Call
  mount: Mount
  isStream: boolean
}

/** Anthropic's body without what the path says; its betas stand in the body. */
function claude(model: string, { call, mount, isStream }: ClaudeCall): Reply {
  const { anthropic_version: version, anthropic_beta: betas, ...body } = call.body
  if (version !== bodyVersion) throw invalidRequest('anthropic_version: Field required')
  for (const name of ['model', 'stream'])
    if (name in body) throw invalidRequest(`${name}: Extra inputs are not permitted`)
  if (betas !== undefined) check.listOf(check.string())(betas, 'anthropic_beta')
  const headers: IncomingHttpHeaders = { 'anthropic-version': '2023-06-01' }
  if (Array.isArray(betas)) headers['anthropic-beta'] = betas.join(',')
  const name = model.slice('anthropic.'.length).replace(/-v\d+(?::\d+)?$/, '')
  const asked = { ...call, body: { ...body, model: name, stream: isStream } }
  const reply = messages({ call: asked, mount, headers })
  if (!isStream) return reply
  const frames = reply.body as Iterable<string>
  return { status: 200, contentType: 'application/vnd.amazon.eventstream', body: chunksOf(frames, call) }
}

/** Each event of the model's stream in a frame; the last has the service's counts, too. */
async function* chunksOf(frames: Iterable<string>, { faults }: Call): AsyncGenerator<Uint8Array> {
  let count = 0
  for (const text of frames) {
    const data = /^data: (.*)$/m.exec(text)?.[1]
    if (data === undefined) continue
    const broken = faults.streamError
    if (broken !== undefined && count === (faults.errorAfterChunks ?? 1)) {
      const type =
        broken.type === 'overloaded_error' ? 'serviceUnavailableException' : 'internalServerException'
      yield exceptionFrame(type, broken.message ?? 'The server had an internal error.')
      return
    }
    const event = JSON.parse(data) as JsonObject
    const counts = { inputTokenCount: 1, outputTokenCount: 1, invocationLatency: 1, firstByteLatency: 1 }
    const told =
      event['type'] === 'message_stop' ? { ...event, 'amazon-bedrock-invocationMetrics': counts } : event
    const bytes = Buffer.from(JSON.stringify(told)).toString('base64')
    count += 1
    yield eventFrame('chunk', { bytes }, 'abcdefghijklmnopqrstuvwxyz'.slice(0, 1 + (count % 26)))
  }
}

const titanFields: Record<string, check.Check> = {
  inputText: check.string(),
  dimensions: check.integer(1),
  normalize: check.boolean,
  embeddingTypes: check.listOf(check.oneOf('float', 'binary')),
}

/** One text; only the second version cuts its vectors. */
function titan(model: string, { body }: Call): Reply {
  const isFirst = model.endsWith('-v1')
  const fields = isFirst ? { inputText: check.string() } : titanFields
  check.checkMembers(body, { fields, required: ['inputText'], strict: true })
  const dimensions = typeof body['dimensions'] === 'number' ? body['dimensions'] : 1_024
  if (![256, 512, 1_024].includes(dimensions)) throw invalidRequest('Unsupported dimensions.')
  const text = String(body['inputText'])
  const inputTextTokenCount = countTokens(text)
  const full = isFirst ? 1_536 : 1_024
  const embedding = [...vectorOf(text, full, isFirst ? full : dimensions)]
  return counted({ embedding, inputTextTokenCount }, inputTextTokenCount)
}

const novaFields: Record<string, check.Check> = {
  schemaVersion: check.string(),
  taskType: check.oneOf('SINGLE_EMBEDDING'),
  singleEmbeddingParams: check.members(
    {
      embeddingPurpose: check.oneOf(
        'GENERIC_INDEX',
        'GENERIC_RETRIEVAL',
        'TEXT_RETRIEVAL',
        'CLASSIFICATION',
        'CLUSTERING',
      ),
      embeddingDimension: check.integer(1),
      text: check.members({ value: check.string(), truncationMode: check.oneOf('NONE', 'START', 'END') }, [
        'value',
        'truncationMode',
      ]),
    },
    ['embeddingPurpose', 'text'],
  ),
}

/** One text, said to be for what. */
function nova({ body }: Call): Reply {
  check.checkMembers(body, {
    fields: novaFields,
    required: ['taskType', 'singleEmbeddingParams'],
    strict: true,
  })
  const params = body['singleEmbeddingParams'] as JsonObject & { text: { value: string } }
  const dimensions = typeof params['embeddingDimension'] === 'number' ? params['embeddingDimension'] : 3_072
  if (![256, 384, 1_024, 3_072].includes(dimensions)) throw invalidRequest('Unsupported embeddingDimension.')
  const { value } = params.text
  const embedding = [...vectorOf(value, 3_072, dimensions)]
  return counted({ embeddings: [{ embeddingType: 'TEXT', embedding }] }, countTokens(value))
}

const cohereFields: Record<string, check.Check> = {
  texts: check.listOf(check.string()),
  images: check.listOf(check.string()),
  input_type: check.oneOf('search_document', 'search_query', 'classification', 'clustering', 'image'),
  truncate: check.oneOf('NONE', 'LEFT', 'RIGHT', 'START', 'END'),
  embedding_types: check.listOf(check.oneOf('float', 'int8', 'uint8', 'binary', 'ubinary')),
  output_dimension: check.integer(1),
  max_tokens: check.integer(1),
}
const cohereTextsMax = 96

function cohere({ body }: Call): Reply {
  check.checkMembers(body, { fields: cohereFields, required: ['input_type', 'texts'], strict: true })
  const texts = body['texts'] as string[]
  if (texts.length > cohereTextsMax) throw invalidRequest(`texts: at most ${cohereTextsMax} are allowed`)
  const dimensions = typeof body['output_dimension'] === 'number' ? body['output_dimension'] : 1_024
  const vectors = texts.map((text) => [...vectorOf(text, 1_024, dimensions)])
  const tokens = texts.reduce((sum, text) => sum + countTokens(text), 0)
  const isTyped = body['embedding_types'] !== undefined
  const told = isTyped
    ? { embeddings: { float: vectors }, response_type: 'embeddings_by_type' }
    : { embeddings: vectors, response_type: 'embeddings_floats' }
  return counted({ id: 'e', texts, ...told }, tokens)
}

function counted(body: object, tokens: number): Reply {
  return { ...jsonReply(JSON.stringify(body)), headers: { [countHeader]: String(tokens) } }
}

/** The model that a path names; null for a path that names none. */
export function invokedModelOf(path: string): string | null {
  const name = invokePath.exec(path)?.[1]
  return name === undefined ? null : decodeURIComponent(name)
}
