import type { UpstreamTarget } from '../canonical/credential.ts'
import { discoveryWaitMs, listingBytesMax } from '../core/limits/catalog.ts'
import type { Transport } from './exchange.ts'

/** A request to a server for facts about itself. */
export interface ServerQuestion {
  target: UpstreamTarget
  method: 'GET' | 'POST'
  /** The path below the server's root, which is above the version in its API's address. */
  path: string
  body: Readonly<Record<string, unknown>> | null
  transport: Transport
  signal: AbortSignal
}

/** The status and the parsed body; the body is undefined when it is not JSON. Rejects when the server does not answer. */
export async function askServer({
  target,
  method,
  path,
  body,
  transport,
  signal,
}: ServerQuestion): Promise<{ status: number; body: unknown }> {
  const root = { ...target, baseUrl: target.baseUrl.replace(/\/v1$/, '') }
  const headers = { accept: 'application/json', ...(body ? { 'content-type': 'application/json' } : {}) }
  const response = await transport.send(
    { method, path, headers, body: body ? [JSON.stringify(body)] : null },
    root,
    { signal, deadlineMs: discoveryWaitMs, firstByteTimeoutMs: discoveryWaitMs },
  )
  const bytes = await response.readAll(listingBytesMax)
  return { status: response.status, body: parse(new TextDecoder().decode(bytes)) }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
