import { prepareGateway } from '../../story/real-gateway.ts'
import { observation, type Check } from '../observations.ts'

const key = 'inference-key-of-the-proof'
/** Two that exist elsewhere, and one that nobody has. */
const names = ['openai/gpt-4o-mini:thinking', 'openai/gpt-4o-mini:online', 'openai/gpt-4o-mini:turbo']

export const proof = observation({
  title: 'a variant that does not exist is refused with those that do, and not with a missing key',
  async observe(): Promise<Check[]> {
    const gateway = prepareGateway(null)
    const check = async (model: string): Promise<Check> => {
      const response = await fetch(`${gateway.baseUrl}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] }),
      })
      const { error } = (await response.json()) as { error?: { message: string } }
      const message = error?.message ?? ''
      const namesVariants = [':batch', ':floor', ':nitro'].every((variant) => message.includes(variant))
      const held = response.status === 400 && namesVariants && !message.includes('_API_KEY')
      return { name: `the refusal of ${model}`, held, seen: `${response.status} ${message}` }
    }
    try {
      await gateway.start({ HEADRACE_BOOTSTRAP_KEY: key })
      return await Promise.all(names.map(check))
    } finally {
      await gateway.remove()
    }
  },
})
