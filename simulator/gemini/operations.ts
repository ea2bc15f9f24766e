import type { Call } from '../call.ts'
import { ApiError } from '../errors.ts'
import type { Mount } from '../mounts.ts'
import type { Programs } from '../programs.ts'
import { jsonReply, type Reply } from '../reply.ts'
import { countContentTokens, generateContent, unknownMethod } from './content.ts'
import { batchEmbedContents, embedContent } from './embeddings.ts'
import { googleModelBody, googleModelList } from './models.ts'

/** The beginning of every path of this API. */
export const googlePath = '/v1beta/'
const methodPath = /^\/v1beta\/models\/([^/:]+):(\w+)$/

/** The model that a path names; null for a path that names none. */
export function googleModelOf(path: string): string | null {
  const name = methodPath.exec(path)?.[1]
  return name === undefined ? null : decodeURIComponent(name)
}

/** A request to this API. */
export interface GoogleAsked {
  method: string
  path: string
  query: URLSearchParams
  mount: Mount
  programs: Programs
  /** The request as a call; null when it has no JSON object for a body. */
  call: Call | null
}

interface MethodAsked extends Pick<GoogleAsked, 'mount' | 'programs' | 'query'> {
  call: Call
  name: string
}

type Method = (asked: MethodAsked) => Reply | Promise<Reply>

const methods: Record<string, Method> = {
  generateContent: (asked) => generateContent({ ...asked, form: 'whole' }),
  streamGenerateContent: (asked) =>
    generateContent({ ...asked, form: asked.query.get('alt') === 'sse' ? 'sse' : 'array' }),
  countTokens: countContentTokens,
  batchEmbedContents: ({ call, name }) => batchEmbedContents(call, name),
  embedContent: ({ call, name }) => embedContent(call, name),
}

/** Answers a request. Throws `ApiError` for requests that Google refuses. */
export function operateGoogle(asked: GoogleAsked): Reply | Promise<Reply> {
  const { method, path, query, mount, programs, call } = asked
  if (method === 'GET' && path === '/v1beta/models') return jsonReply(googleModelList(query))
  if (method === 'GET' && path.startsWith('/v1beta/models/'))
    return jsonReply(googleModelBody(decodeURIComponent(path.slice('/v1beta/models/'.length))))
  const [, model = '', name = ''] = methodPath.exec(path) ?? []
  const operation = Object.hasOwn(methods, name) ? methods[name] : undefined
  if (operation === undefined || method !== 'POST') throw unknownMethod(`${method} ${path}`)
  if (call === null)
    throw new ApiError({ status: 400, message: 'Invalid JSON payload received. Unexpected end of string.' })
  return operation({ call, name: decodeURIComponent(model), mount, programs, query })
}
