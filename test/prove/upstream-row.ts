import { prepareGateway } from '../story/real-gateway.ts'
import { startScriptedUpstream, type ScriptedUpstream } from '../support/scripted-upstream.ts'
import type { Check } from './observations.ts'

const key = 'a-key-of-at-least-thirty-two-characters'

/** What a caller got. */
export interface Received {
  status: number
  text: string
  /** The JSON of a whole answer, or an empty object. */
  json: Record<string, unknown>
  /** The JSON of every event of a stream. */
  frames: Record<string, unknown>[]
  contentType: string
  /** By which `GET /generation` knows the call. */
  generationId: string
}

/** A gateway of some checkout before an upstream that says what it is told to say. */
export interface GatewayBefore {
  upstream: ScriptedUpstream
  /** Sends a body, as it is where it is a text. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Received>
  send(method: string, path: string): Promise<Received>
}

/** Starts both, and removes them when `use` has ended. `providers` are those of the configuration file. */
export async function withUpstream(
  providers: (upstreamUrl: string) => readonly Record<string, unknown>[],
  use: (gateway: GatewayBefore) => Promise<readonly Check[]>,
): Promise<readonly Check[]> {
  const upstream = startScriptedUpstream()
  const gateway = prepareGateway({ providers: providers(upstream.url) })
  try {
    await gateway.start({ HEADRACE_BOOTSTRAP_KEY: key })
    const request = async (path: string, init: RequestInit) => {
      const headers = { authorization: `Bearer ${key}`, ...(init.headers as Record<string, string>) }
      const response = await fetch(`${gateway.baseUrl}${path}`, { ...init, headers })
      return readReceived(response)
    }
    return await use({
      upstream,
      post: (path, body, headers = {}) =>
        request(path, {
          method: 'POST',
          body: typeof body === 'string' ? body : JSON.stringify(body),
          headers: { 'content-type': 'application/json', ...headers },
        }),
      send: (method, path) => request(path, { method }),
    })
  } finally {
    await gateway.remove()
    await upstream.stop()
  }
}

async function readReceived(response: Response): Promise<Received> {
  const text = Buffer.from(await response.arrayBuffer()).toString('latin1')
  const payloads = text.split('\n').filter((line) => line.startsWith('data: {'))
  return {
    status: response.status,
    text,
    json: text.startsWith('{') ? JSON.parse(text) : {},
    frames: payloads.map((line) => JSON.parse(line.slice(6))),
    contentType: response.headers.get('content-type') ?? '',
    generationId: response.headers.get('x-generation-id') ?? '',
  }
}

/** The upstream as the one provider, of these models. */
export function acme(models: readonly Record<string, unknown>[]) {
  return (url: string) => [{ preset: 'custom', id: 'acme', base_url: url, discover: false, models }]
}

/** An upstream's event stream from its payloads. */
export function eventsOf(payloads: readonly unknown[]): Response {
  const frames = payloads.map((payload) => `data: ${JSON.stringify(payload)}\n\n`)
  return new Response(`${frames.join('')}data: [DONE]\n\n`, {
    headers: { 'content-type': 'text/event-stream' },
  })
}

/** The text operations, whose callers speak a format each. */
export const textPaths = ['/chat/completions', '/responses', '/messages'] as const

/** A short question in the format of a path. */
export function questionAt(path: (typeof textPaths)[number], model: string): Record<string, unknown> {
  if (path === '/responses') return { model, input: 'hi' }
  const messages = [{ role: 'user', content: 'hi' }]
  return path === '/messages' ? { model, messages, max_tokens: 50 } : { model, messages }
}

/** The choices of a body or an event. */
export function choicesOf(body: Record<string, unknown> | undefined): Record<string, unknown>[] {
  return (body?.['choices'] ?? []) as Record<string, unknown>[]
}
