import { ApiError, invalidRequest } from '../errors.ts'
import type { Faults } from '../faults.ts'
import { isObject, type JsonObject } from '../json.ts'
import { threadsMax } from '../limits.ts'

/**
 * Conversations that the provider keeps for callers that send only new messages, each under the id of its last answer.
 */
export interface Threads {
  /** The request with the earlier messages of its thread. Throws `ApiError` for an unknown thread. */
  whole(body: JsonObject, faults: Faults): JsonObject
  /** Keeps a conversation with its answer, when the request asked for that. */
  keep(body: JsonObject, id: string, content: readonly JsonObject[]): void
}

/** Creates an empty set of threads. */
export function createThreads(): Threads {
  const held = new Map<string, JsonObject>()
  return {
    whole(body, faults) {
      const { thread } = body
      if (!isObject(thread)) return body
      if (faults.noThreads === true) throw unsupported()
      if (thread['type'] === 'create') return body
      const id = thread['previous_message_id']
      const before = typeof id === 'string' ? held.get(id) : undefined
      if (thread['type'] !== 'continue') throw invalidRequest('Input tag is not expected', 'thread')
      if (before === undefined) throw notFound()
      return { ...before, ...body, messages: [...listOf(before['messages']), ...listOf(body['messages'])] }
    },
    keep(body, id, content) {
      if (!isObject(body['thread'])) return
      const messages = [...listOf(body['messages']), { role: 'assistant', content }]
      held.set(id, { ...body, messages })
      const [oldest] = held.keys()
      if (held.size > threadsMax && oldest !== undefined) held.delete(oldest)
    },
  }
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}

function unsupported(): ApiError {
  const details = { error_code: 'thread_unsupported_request', unsupported: [] }
  return new ApiError({ status: 400, message: 'This request cannot be held as a thread.', details })
}

function notFound(): ApiError {
  const details = { error_code: 'thread_not_found' }
  return new ApiError({ status: 404, message: 'The thread was not found, or has expired.', details })
}
