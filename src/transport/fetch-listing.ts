import type { UpstreamTarget } from '../canonical/credential.ts'
import { discoveryWaitMs, listingBytesMax } from '../core/limits/catalog.ts'
import { recordOrEmpty } from '../json/values.ts'
import type { Transport } from './exchange.ts'

/** Pages of one provider's model listing that are read; the largest public one has two. */
export const listingPagesMax = 20

/** A request for one deployment's model listing. */
export interface ListingRequest {
  target: UpstreamTarget
  /** The path below the base URL. */
  path: string
  transport: Transport
  signal: AbortSignal
}

/**
 * The parsed body of a deployment's model listing. When it has several pages, it is the last page's body with the models of
 * all pages. Rejects with `status N` for every status but 200.
 */
export async function fetchListing(request: ListingRequest): Promise<unknown> {
  const body = await fetchPage(request, request.path)
  let next = nextPageOf(body)
  const models = modelsOf(body)
  if (models === null || next === null) return body
  for (let pages = 1; next !== null && pages < listingPagesMax; pages += 1) {
    const separator = request.path.includes('?') ? '&' : '?'
    const page = await fetchPage(request, `${request.path}${separator}${next}`)
    models.push(...(modelsOf(page) ?? []))
    next = nextPageOf(page)
  }
  return { models }
}

async function fetchPage({ target, transport, signal }: ListingRequest, path: string): Promise<unknown> {
  const response = await transport.send(
    { method: 'GET', path, headers: { accept: 'application/json' }, body: null },
    target,
    { signal, deadlineMs: discoveryWaitMs, firstByteTimeoutMs: discoveryWaitMs },
  )
  const bytes = await response.readAll(listingBytesMax)
  if (response.status !== 200) throw new Error(`status ${response.status}`)
  return JSON.parse(new TextDecoder().decode(bytes))
}

/** The models of a page; null when the body has none. */
function modelsOf(body: unknown): unknown[] | null {
  const { models, data } = recordOrEmpty(body)
  if (Array.isArray(models)) return models
  return Array.isArray(data) ? data : null
}

/** The query for the next page, as Google's and Anthropic's listings need it; null on the last page. */
function nextPageOf(body: unknown): string | null {
  const { nextPageToken, has_more: hasMore, last_id: lastId } = recordOrEmpty(body)
  if (typeof nextPageToken === 'string' && nextPageToken !== '')
    return `pageToken=${encodeURIComponent(nextPageToken)}`
  return hasMore === true && typeof lastId === 'string' ? `after_id=${encodeURIComponent(lastId)}` : null
}
