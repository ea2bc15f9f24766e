import { toneWav } from '../../support/gateway.ts'
import { callWithUsage, chatProvider, countsOf } from '../chat-usage.ts'
import { observation, type Check } from '../observations.ts'
import { withScriptedGateway } from '../scripted-gateway.ts'

/** Sound that the model hears: one that nobody sent is not believed. */
const sound = {
  messages: [
    {
      role: 'user',
      content: [
        {
          type: 'input_audio',
          input_audio: { data: Buffer.from(toneWav(30)).toString('base64'), format: 'wav' },
        },
      ],
    },
  ],
}
const completion = { prompt_tokens: 9, completion_tokens: 248, total_tokens: 632 }

export const proof = observation({
  title: 'tokens that show only in the total are shown and billed',
  observe: () =>
    withScriptedGateway({ provider: chatProvider }, async (gateway): Promise<Check[]> => {
      const checks: Check[] = []
      const look = async (
        name: string,
        usage: Record<string, unknown>,
        expected: Record<string, unknown>,
        request: Record<string, unknown> = {},
      ): Promise<void> => {
        const charged = await callWithUsage(gateway, usage, request)
        const seen = { ...charged.usage, cost: charged.cost }
        const held =
          charged.isEstimated === false &&
          Object.entries(expected).every(([member, value]) => seen[member as keyof typeof seen] === value)
        checks.push({ name, held, seen: countsOf(charged) })
      }
      const heard = { prompt_tokens: 384, completion_tokens: 248, total_tokens: 632, cost: 0.04255 }
      await look(
        'audio that its model counts beside the prompt is input at the price of audio',
        { ...completion, prompt_tokens_details: { audio_tokens: 375 } },
        heard,
        sound,
      )
      await look(
        'also when only its seconds are told',
        { ...completion, prompt_audio_seconds: 30 },
        heard,
        sound,
      )
      await look(
        'thinking that no count names is output',
        { prompt_tokens: 12, completion_tokens: 35, total_tokens: 109 },
        { prompt_tokens: 12, completion_tokens: 97, total_tokens: 109, cost: 0.00206 },
      )
      return checks
    }),
})
