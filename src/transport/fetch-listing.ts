import type { UpstreamTarget } from '../canonical/credential.ts'
import { discoveryWaitMs, listingBytesMax, listingPagesMax } from '../core/limits/catalog.ts'
import type { Transport } from './http-client.ts'

/** What reading one deployment's model listing takes. */
export interface ListingRequest {
  target: UpstreamTarget
  /** Below the base URL. */
  path: string
  transport: Transport
  signal: AbortSignal
}

/**
 * The body of a deployment's model listing, parsed; of one in several pages the last, with the models of all. Rejects with
 * `status N` for any other answer than 200.
 */
export async function fetchListing(request: ListingRequest): Promise<unknown> {
  const body = await fetchPage(request, request.path)
  let token = nextPageOf(body)
  const models = modelsOf(body)
  if (models === null || token === null) return body
  for (let pages = 1; token !== null && pages < listingPagesMax; pages += 1) {
    const separator = request.path.includes('?') ? '&' : '?'
    const page = await fetchPage(request, `${request.path}${separator}pageToken=${encodeURIComponent(token)}`)
    models.push(...(modelsOf(page) ?? []))
    token = nextPageOf(page)
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

/** The models of a page; null of a listing that has no pages. */
function modelsOf(body: unknown): unknown[] | null {
  if (typeof body !== 'object' || body === null || !('models' in body)) return null
  return Array.isArray(body.models) ? body.models : null
}

function nextPageOf(body: unknown): string | null {
  if (typeof body !== 'object' || body === null || !('nextPageToken' in body)) return null
  return typeof body.nextPageToken === 'string' && body.nextPageToken !== '' ? body.nextPageToken : null
}
