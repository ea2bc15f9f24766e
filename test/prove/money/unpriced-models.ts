import { observation, type Check } from '../observations.ts'
import { withScriptedGateway, type ScriptedGateway } from '../scripted-gateway.ts'

interface Batch {
  id: string
  status: string
  usage: { cost?: unknown } | null
}

const waitMsMax = 20_000
const messages = [{ role: 'user', content: 'hi' }]

async function endedBatch({ send }: ScriptedGateway, id: string): Promise<Batch> {
  const endMs = performance.now() + waitMsMax
  for (;;) {
    const batch = (await (await send(`/batches/${id}`)).json()) as Batch
    if (batch.status === 'completed' || performance.now() > endMs) return batch
    await Bun.sleep(100)
  }
}

export const proof = observation({
  title: 'the cost of a model without a price is left out of an answer, and null in a batch',
  observe: () =>
    withScriptedGateway(
      {
        provider: (url) => ({
          preset: 'custom',
          id: 'acme',
          base_url: url,
          models: [{ id: 'acme/unpriced', upstream: 'unpriced' }],
        }),
      },
      async (gateway): Promise<Check[]> => {
        gateway.upstream.answer(() =>
          Response.json({
            choices: [{ index: 0, message: { role: 'assistant', content: 'yes' }, finish_reason: 'stop' }],
            usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
          }),
        )
        const answered = await gateway.send('/chat/completions', { model: 'acme/unpriced', messages })
        const live = (await answered.json()) as { usage?: { cost?: unknown } }
        const accepted = await gateway.send('/batches', {
          endpoint: '/v1/chat/completions',
          model: 'acme/unpriced',
          requests: [{ custom_id: 'a', body: { messages } }],
        })
        const { id } = (await accepted.json()) as Batch
        const batch = await endedBatch(gateway, id)
        return [
          {
            name: 'neither names a cost',
            held:
              live.usage !== undefined &&
              !('cost' in live.usage) &&
              batch.status === 'completed' &&
              batch.usage?.cost === null,
            seen: `live ${live.usage?.cost}, batch ${batch.usage?.cost} (${batch.status})`,
          },
        ]
      },
    ),
})
