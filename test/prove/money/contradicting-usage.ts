import { callWithUsage, chatProvider, countsOf, type Charged } from '../chat-usage.ts'
import { observation, type Check } from '../observations.ts'
import { withScriptedGateway } from '../scripted-gateway.ts'

const grok = { prompt_tokens: 10, completion_tokens: 213, prompt_tokens_details: { cached_tokens: 161 } }
const hosted = {
  prompt_tokens: 700,
  completion_tokens: 9,
  total_tokens: 709,
  prompt_tokens_details: { cached_tokens: 700, cache_write_tokens: 700 },
}

function check(name: string, charged: Charged, expected: { prompt: number; cost: number }): Check {
  const { usage, cost, isEstimated } = charged
  const held = usage['prompt_tokens'] === expected.prompt && cost === expected.cost && isEstimated === false
  return { name, held, seen: countsOf(charged) }
}

export const proof = observation({
  title: 'usage whose details contradict each other loses the detail and no count',
  observe: () =>
    withScriptedGateway({ provider: chatProvider }, async (gateway): Promise<Check[]> => {
      const without = await callWithUsage(gateway, { ...grok, total_tokens: 223 })
      const onTop = await callWithUsage(gateway, { ...grok, total_tokens: 384 })
      const both = await callWithUsage(gateway, hosted)
      return [
        check('more cached than the prompt has: 10 + 213', without, { prompt: 10, cost: 0.00436 }),
        check('the total has the cached ones on top: 171 + 213', onTop, { prompt: 171, cost: 0.004521 }),
        check('cached and written as a whole: 700 + 9', both, { prompt: 700, cost: 0.00088 }),
      ]
    }),
})
