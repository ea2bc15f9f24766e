import { callWithUsage, chatProvider, countsOf } from '../chat-usage.ts'
import { observation, type Check } from '../observations.ts'
import { withScriptedGateway, type ScriptedGateway } from '../scripted-gateway.ts'

const absurd = { prompt_tokens: 11, completion_tokens: 128_001, total_tokens: 128_012 }
const limited = { max_tokens: 50 }
const credits = 0.05
const callers = 300
/** What 50 tokens of output and this short prompt cost at most. */
const costMax = 50 * 20e-6 + 30 * 10e-6

async function balanceOf({ send }: ScriptedGateway): Promise<number> {
  const { data } = (await (await send('/credits')).json()) as {
    data: { total_credits: number; total_usage: number }
  }
  return data.total_credits - data.total_usage
}

async function oneCall(gateway: ScriptedGateway): Promise<Check[]> {
  const charged = await callWithUsage(gateway, absurd, limited)
  const { reported } = charged.row['headrace'] as { reported?: { output_tokens?: number } | null }
  const cost = Number(charged.cost)
  const unasked = await callWithUsage(gateway, { prompt_tokens: 0, completion_tokens: 4, total_tokens: 4 })
  const prompt = Number(unasked.usage['prompt_tokens'])
  const stuffed = await callWithUsage(
    gateway,
    { prompt_tokens: 120_000, completion_tokens: 4, total_tokens: 120_004 },
    limited,
  )
  return [
    {
      name: 'a prompt of 120,000 tokens for a few words is not charged',
      held: Number(stuffed.cost) > 0 && Number(stuffed.cost) <= costMax && stuffed.isEstimated === true,
      seen: countsOf(stuffed),
    },
    {
      name: '128,001 tokens of output for max_tokens 50 are not charged, and the charge is marked',
      held: cost > 0 && cost <= costMax && charged.isEstimated === true,
      seen: countsOf(charged),
    },
    {
      name: "the provider's figure stands beside the charge",
      held: reported?.output_tokens === absurd.completion_tokens,
      seen: `reported ${reported?.output_tokens}`,
    },
    {
      name: 'a prompt of no tokens beside output is estimated, and the output is believed',
      held: prompt > 0 && unasked.usage['completion_tokens'] === 4 && unasked.isEstimated === true,
      seen: countsOf(unasked),
    },
  ]
}

export const proof = observation({
  title: "the call's own limit bounds what its provider is believed to have put out",
  async observe(): Promise<Check[]> {
    const provider = chatProvider
    const checks = await withScriptedGateway({ provider }, oneCall)
    const env = { HEADRACE_BOOTSTRAP_CREDITS: String(credits) }
    const balance = await withScriptedGateway({ provider, env }, async (gateway) => {
      await Promise.all(
        Array.from({ length: callers }, () => callWithUsage(gateway, absurd, limited).catch(() => null)),
      )
      return balanceOf(gateway)
    })
    return [
      ...checks,
      {
        name: `${callers} such calls at once never take more than there is`,
        held: balance >= 0 && balance < credits,
        seen: `balance ${credits} → ${balance.toFixed(4)}`,
      },
    ]
  },
})
