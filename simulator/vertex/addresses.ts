import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { type ApiStyle, bearerKeyOf } from '../api-style.ts'
import { ApiError, invalidRequest } from '../errors.ts'
import { googleStyle } from '../gemini/errors.ts'
import type { JsonObject } from '../json.ts'
import { anthropicStyle, versioned } from '../messages/errors.ts'

const placePath = /^\/v1(?:beta1)?\/projects\/[a-z][a-z0-9-]*\/locations\/[a-z0-9-]+(\/.+)$/
const publishedPath = /^\/publishers\/(google|anthropic)\/models\/([^/:]+):(\w+)$/
const openAiPath = '/endpoints/openapi/chat/completions'
const bodyVersion = 'vertex-2023-10-16'
const claudeMethods: ReadonlySet<string> = new Set(['rawPredict', 'streamRawPredict'])

interface Published {
  publisher: 'google' | 'anthropic'
  model: string
  method: string
}

function publishedAt(path: string): Published | null {
  const [, publisher, model = '', method = ''] = publishedPath.exec(placePath.exec(path)?.[1] ?? '') ?? []
  if (publisher !== 'google' && publisher !== 'anthropic') return null
  return { publisher, model: decodeURIComponent(model), method }
}

/** Whether a path below the mount belongs to a project of Vertex AI. */
export function isVertexPath(path: string): boolean {
  return placePath.test(path)
}

/** The model that a path names; null for a path that names none. */
export function vertexModelOf(path: string): string | null {
  return publishedAt(path)?.model ?? null
}

/** Either a token or, in express mode, a key. */
function authenticate(headers: IncomingHttpHeaders): void {
  const key = bearerKeyOf(headers.authorization) ?? headers['x-goog-api-key']
  if (typeof key === 'string' && key !== '' && !key.startsWith('bad-key')) return
  throw new ApiError({
    status: 401,
    message: 'Request had invalid authentication credentials. Expected OAuth 2 access token.',
  })
}

const ofGoogle: ApiStyle = { ...googleStyle, authenticate }
const ofAnthropic: ApiStyle = { ...anthropicStyle, authenticate }

/** The errors of a path: those of Anthropic's models are Anthropic's, all others Google's. */
export function vertexStyleOf(path: string): ApiStyle {
  return publishedAt(path)?.publisher === 'anthropic' ? ofAnthropic : ofGoogle
}

interface Addressed {
  path: string
  json: JsonObject | null
  request: IncomingMessage
}

/** A request as the API of the model's publisher takes it. Throws `ApiError` 404 for an unknown address. */
export function atPublisher<Asked extends Addressed>(asked: Asked): Asked {
  const { path, json, request } = asked
  if (placePath.exec(path)?.[1] === openAiPath) return { ...asked, path: '/v1/chat/completions' }
  const { publisher, model, method } = publishedAt(path) ?? {}
  if (publisher === 'google') return { ...asked, path: `/v1beta/models/${model}:${method}` }
  if (publisher !== 'anthropic' || model === undefined || !claudeMethods.has(method ?? ''))
    throw new ApiError({ status: 404, message: 'The requested URL was not found on this server.' })
  return {
    ...asked,
    path: '/v1/messages',
    json: json && claudeBody(json, model),
    request: versioned(request),
  }
}

/** Anthropic's body: the path names the model, and the body the version. */
function claudeBody({ anthropic_version: version, ...body }: JsonObject, model: string): JsonObject {
  if (version !== bodyVersion) throw invalidRequest('anthropic_version: Field required')
  if ('model' in body) throw invalidRequest('model: Extra inputs are not permitted')
  return { ...body, model: model.replace('@', '-') }
}
