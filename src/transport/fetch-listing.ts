import type { UpstreamTarget } from '../canonical/credential.ts'
import { discoveryWaitMs, listingBytesMax } from '../core/limits/catalog.ts'
import type { Transport } from './http-client.ts'

/** What reading one deployment's model listing takes. */
export interface ListingRequest {
  target: UpstreamTarget
  /** Below the base URL. */
  path: string
  transport: Transport
  signal: AbortSignal
}

/** The body of a deployment's model listing, parsed. Rejects with `status N` for any other answer than 200. */
export async function fetchListing({ target, path, transport, signal }: ListingRequest): Promise<unknown> {
  const response = await transport.send(
    { method: 'GET', path, headers: { accept: 'application/json' }, body: null },
    target,
    { signal, deadlineMs: discoveryWaitMs, firstByteTimeoutMs: discoveryWaitMs },
  )
  const bytes = await response.readAll(listingBytesMax)
  if (response.status !== 200) throw new Error(`status ${response.status}`)
  return JSON.parse(new TextDecoder().decode(bytes))
}
