import type { RealGateway } from '../story/real-gateway.ts'

/** A key that a observation brings to the first start. */
export const proofKey = 'proof-inference-key-0001'

/** A custom deployment with one chat model at this address. */
export function chatProvider(url: string): Record<string, unknown> {
  const prices = { input_per_million: '1', output_per_million: '1' }
  return {
    preset: 'custom',
    id: 'acme',
    base_url: url,
    discover: false,
    models: [{ id: 'acme/chat', prices }],
  }
}

/** What it answers, where that does not matter. */
export const chatAnswer = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'chat',
  choices: [{ index: 0, message: { role: 'assistant', content: 'yes' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
}

/** Asks that model, by default with the key of the first start. */
export function askChat(
  { baseUrl }: RealGateway,
  { key = proofKey, headers = {}, prompt = 'hi' }: { key?: string; headers?: object; prompt?: string } = {},
): Promise<Response> {
  return fetch(`${baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'acme/chat', messages: [{ role: 'user', content: prompt }] }),
  })
}

/** The page of metrics of a gateway on this machine. */
export async function metricsOf({ baseUrl }: RealGateway): Promise<string> {
  return (await fetch(baseUrl.replace(/\/v1$/, '/metrics'))).text()
}

/** The lines of the log that have come within a moment; what is no JSON is left out. */
export async function logOf(gateway: RealGateway): Promise<Record<string, unknown>[]> {
  await Bun.sleep(500)
  return gateway
    .printed()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}
