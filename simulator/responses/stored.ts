import { ApiError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { storedResponsesMax } from '../limits.ts'
import { jsonReply, type Reply } from '../reply.ts'

/** One answer that the provider keeps. */
export interface StoredResponse {
  body: JsonObject
  /** The items of its whole conversation, its own at the end. */
  items: JsonObject[]
}

/** The answers that one mount keeps for later turns. */
export interface StoredResponses {
  get(id: string): StoredResponse | null
  keep(id: string, response: StoredResponse): void
  remove(id: string): void
  /** An item of any kept conversation. */
  item(id: string): JsonObject | null
}

/** Creates an empty set of answers. */
export function createStoredResponses(): StoredResponses {
  const kept = new Map<string, StoredResponse>()
  return {
    get: (id) => kept.get(id) ?? null,
    keep(id, response) {
      kept.set(id, response)
      const [oldest] = kept.keys()
      if (kept.size > storedResponsesMax && oldest !== undefined) kept.delete(oldest)
    },
    remove: (id) => void kept.delete(id),
    item(id) {
      for (const { items } of kept.values()) {
        const found = items.find((item) => item['id'] === id)
        if (found !== undefined) return found
      }
      return null
    },
  }
}

/** `GET` and `DELETE /responses/{id}`. Throws 404 for an unknown one. */
export function storedResponse(id: string, method: string, stored: StoredResponses): Reply {
  const response = stored.get(id)
  if (response === null) throw new ApiError({ status: 404, message: `Response with id '${id}' not found.` })
  if (method === 'GET') return jsonReply(JSON.stringify(response.body))
  stored.remove(id)
  return jsonReply(JSON.stringify({ id, object: 'response.deleted', deleted: true }))
}
