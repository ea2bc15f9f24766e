import type { ScriptedGateway } from './scripted-gateway.ts'

/** A chat model of its own with round prices: what it costs tells what was counted. */
export function chatProvider(url: string): Record<string, unknown> {
  return {
    preset: 'custom',
    id: 'acme',
    base_url: url,
    models: [
      {
        id: 'acme/chat',
        upstream: 'chat',
        prices: {
          input_per_million: '10',
          cached_input_per_million: '1',
          input_audio_per_million: '100',
          output_per_million: '20',
        },
      },
    ],
  }
}

/** What a caller was shown and what the ledger has. */
export interface Charged {
  usage: Record<string, unknown>
  cost: unknown
  isEstimated: unknown
  row: Record<string, unknown>
}

/** One call whose provider answers a short text with this usage. */
export async function callWithUsage(
  { upstream, send, generation }: ScriptedGateway,
  usage: Record<string, unknown>,
  request: Record<string, unknown> = {},
): Promise<Charged> {
  upstream.answer(() =>
    Response.json({
      choices: [{ index: 0, message: { role: 'assistant', content: 'Certainly.' }, finish_reason: 'stop' }],
      usage,
    }),
  )
  const messages = [{ role: 'user', content: 'Say yes.' }]
  const response = await send('/chat/completions', { model: 'acme/chat', messages, ...request })
  const { usage: shown = {} } = (await response.json()) as { usage?: Record<string, unknown> }
  const row = await generation(response)
  const { is_estimated: isEstimated } = row['headrace'] as Record<string, unknown>
  return { usage: shown, cost: row['total_cost'], isEstimated, row }
}

/** The counts of it, for a table: `171 + 213 = 384`. */
export function countsOf({ usage, cost, isEstimated }: Charged): string {
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = usage
  return `${prompt} + ${completion} = ${total}, cost ${cost}${isEstimated === true ? ', estimated' : ''}`
}
