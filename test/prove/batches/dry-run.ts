import { prepareGateway } from '../../story/real-gateway.ts'
import { observation, type Check } from '../observations.ts'

const key = 'prove-inference-key-0001'

export const proof = observation({
  title: 'a dry run tells whether the batch would be accepted, and else the refusal',
  async observe(): Promise<Check[]> {
    const gateway = prepareGateway(null)
    try {
      await gateway.start({ HEADRACE_BOOTSTRAP_KEY: key, HEADRACE_BOOTSTRAP_CREDITS: '0.0001' })
      const ask = async (path: string, request: Request) => {
        const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
        const response = await fetch(`${gateway.baseUrl}${path}`, {
          method: 'POST',
          headers: { ...headers, ...request.headers },
          body: JSON.stringify(batchOf(request)),
        })
        return { status: response.status, text: await response.text() }
      }
      const compare = async (name: string, request: Request): Promise<Check> => {
        const real = await ask('/batches', request)
        const dry = await ask('/batches?dry_run=true', request)
        const held = real.status >= 400 && dry.status === real.status && dry.text === real.text
        return { name, held, seen: `real ${real.status}, dry run ${dry.status}` }
      }
      const checks = [
        await compare('a batch that the balance does not cover', { items: 2_000 }),
        await compare('a batch above its own max_cost', { items: 1, max_cost: 0.000000001 }),
        await compare('an Idempotency-Key that is too long', {
          items: 1,
          headers: { 'idempotency-key': 'x'.repeat(300) },
        }),
      ]
      const used = { 'idempotency-key': 'used' }
      await ask('/batches', { items: 1, headers: used })
      checks.push(await compare('an Idempotency-Key of another body', { items: 2, headers: used }))
      return checks
    } finally {
      await gateway.remove()
    }
  },
})

interface Request {
  items: number
  max_cost?: number
  headers?: Record<string, string>
}

function batchOf({ items, max_cost }: Request) {
  return {
    endpoint: '/v1/chat/completions',
    model: 'openai/gpt-4o-mini',
    ...(max_cost === undefined ? {} : { headrace: { max_cost } }),
    requests: Array.from({ length: items }, (_, index) => ({
      custom_id: `item-${index}`,
      body: { messages: [{ role: 'user', content: 'Say hello' }], max_tokens: 50 },
    })),
  }
}
