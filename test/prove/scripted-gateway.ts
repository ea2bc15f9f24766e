import { prepareGateway } from '../story/real-gateway.ts'
import { startScriptedUpstream, type ScriptedUpstream } from '../support/scripted-upstream.ts'

const inferenceKey = 'sk-hr-v1-0000000000000000000000000000000000000000000000000000000000000prove'

/** The program of a checkout in a process of its own, in front of one upstream that answers what a proof says. */
export interface ScriptedGateway {
  readonly upstream: ScriptedUpstream
  /** Sends a JSON body to a path below `/v1`, or gets it. */
  send(path: string, body?: Record<string, unknown> | FormData): Promise<Response>
  /** The row that the ledger has of a call. */
  generation(response: Response): Promise<Record<string, unknown>>
}

/**
 * Runs `use` with such a gateway, whose provider is made from the upstream's address, and removes it. What keeps it from
 * starting is thrown.
 */
export async function withScriptedGateway<Result>(
  given: { provider: (url: string) => Record<string, unknown>; env?: Record<string, string> },
  use: (gateway: ScriptedGateway) => Promise<Result>,
): Promise<Result> {
  const upstream = startScriptedUpstream()
  const gateway = prepareGateway({ providers: [given.provider(upstream.url)] })
  const headers = { authorization: `Bearer ${inferenceKey}` }
  const send = (path: string, body?: Record<string, unknown> | FormData): Promise<Response> => {
    const url = `${gateway.baseUrl}${path}`
    if (body === undefined) return fetch(url, { headers })
    if (body instanceof FormData) return fetch(url, { method: 'POST', headers, body })
    const json = { ...headers, 'content-type': 'application/json' }
    return fetch(url, { method: 'POST', headers: json, body: JSON.stringify(body) })
  }
  try {
    await gateway.start({ HEADRACE_BOOTSTRAP_KEY: inferenceKey, ...given.env })
    return await use({
      upstream,
      send,
      async generation(response) {
        const id = response.headers.get('x-generation-id') ?? ''
        const { data } = (await (await send(`/generation?id=${id}`)).json()) as { data?: object }
        return { ...data }
      },
    })
  } finally {
    await gateway.remove()
    await upstream.stop()
  }
}
