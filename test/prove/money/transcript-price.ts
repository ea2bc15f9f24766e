import { observation, type Check } from '../observations.ts'
import { withScriptedGateway, type ScriptedGateway } from '../scripted-gateway.ts'

/** 0.4 seconds of silence at 16 kHz. */
function shortWav(): Buffer {
  const rate = 16_000
  const samples = 0.4 * rate
  const head = Buffer.alloc(44)
  head.write('RIFF', 0)
  head.writeUInt32LE(36 + samples * 2, 4)
  head.write('WAVEfmt ', 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(rate, 24)
  head.writeUInt32LE(rate * 2, 28)
  head.writeUInt16LE(2, 32)
  head.writeUInt16LE(16, 34)
  head.write('data', 36)
  head.writeUInt32LE(samples * 2, 40)
  return Buffer.concat([head, Buffer.alloc(samples * 2)])
}

/** What the same audio costs as `json` and as `verbose_json`, of a provider that tells whole seconds only in the first. */
async function costsOf({ upstream, send }: ScriptedGateway, model: string): Promise<unknown[]> {
  upstream.answer(({ body }) => {
    const length = body.includes('verbose_json')
      ? { duration: 0.4 }
      : { usage: { type: 'duration', seconds: 1 } }
    return Response.json({ text: 'so', ...length })
  })
  const costs: unknown[] = []
  for (const format of ['json', 'verbose_json']) {
    const form = new FormData()
    form.set('model', model)
    form.set('response_format', format)
    form.set('file', new File([shortWav()], 'short.wav', { type: 'audio/wav' }))
    const response = await send('/audio/transcriptions', form)
    const { usage } = (await response.json()) as { usage?: { cost?: unknown } }
    costs.push(usage?.cost)
  }
  return costs
}

async function costsWith(provider: Record<string, unknown>, model: string): Promise<unknown[]> {
  const given = { provider: (url: string) => ({ base_url: url, api_key: 'any', ...provider }) }
  return withScriptedGateway(given, (gateway) => costsOf(gateway, model)).catch((error: unknown) => [
    String(error).includes('minimum_seconds') ? 'the configuration is refused' : String(error),
  ])
}

function areAll(costs: readonly unknown[], expected: number): boolean {
  return costs.length === 2 && costs.every((cost) => cost === expected)
}

export const proof = observation({
  title: "a transcript has one price, by its audio and its price's own rules, whatever the answer's format",
  async observe(): Promise<Check[]> {
    const shipped = await costsWith({ preset: 'openai', discover: false }, 'openai/whisper-1')
    const prices = { audio_per_minute: '0.06', minimum_seconds: 9.5, round_to_seconds: 2 }
    const own = { id: 'acme/heard', upstream: 'heard', modality: 'transcription', prices }
    const configured = await costsWith({ preset: 'custom', id: 'acme', models: [own] }, 'acme/heard')
    return [
      {
        name: '0.4 s of whisper-1 cost its whole second as json and as verbose_json',
        held: areAll(shipped, 0.0001),
        seen: shipped.join(', '),
      },
      {
        name: 'a configured minimum of 9.5 s in steps of 2 s makes them 10 s',
        held: areAll(configured, 0.01),
        seen: configured.join(', '),
      },
    ]
  },
})
