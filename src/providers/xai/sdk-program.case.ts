import { createXai } from '@ai-sdk/xai'
import type { At, Intentions } from '../../../test/vendor-sdks/programs/at.ts'

// xAI's own package has only gRPC; its documentation recommends this one for JavaScript.
const providerOf = ({ url, key }: At) => createXai({ apiKey: key, baseURL: `${url}/v1` })

const rates = { sampleRate: 24_000, bitRate: 128_000 } as const

const speak = (
  at: At,
  more: { voice: string; outputFormat: string; speed?: number; sampleRate: 24_000; bitRate?: 128_000 },
) => {
  const { sampleRate, bitRate, ...asked } = more
  const providerOptions = { xai: { sampleRate, ...(bitRate === undefined ? {} : { bitRate }) } }
  return providerOf(at)
    .speech()
    .doGenerate({ text: 'Hello there', providerOptions, ...asked })
}

const hear = (at: At, xai: Record<string, string | boolean | string[]> = {}) =>
  providerOf(at)
    .transcription()
    .doGenerate({ audio: at.sound, mediaType: 'audio/wav', providerOptions: { xai } })

export const intentions: Intentions = {
  responses: (at) =>
    providerOf(at)
      .responses('grok-4')
      .doGenerate({
        prompt: [{ role: 'user', content: [{ type: 'text', text: 'Say hello' }] }],
        maxOutputTokens: 100,
        providerOptions: {},
      }),
  mp3: (at) => speak(at, { voice: 'eve', outputFormat: 'mp3', ...rates }),
  pcm: (at) => speak(at, { voice: 'ara', outputFormat: 'pcm', speed: 1.2, sampleRate: 24_000 }),
  'custom-voice': (at) => speak(at, { voice: 'nlbqfwie', outputFormat: 'mp3', ...rates }),
  transcript: (at) => hear(at),
  detailed: (at) => hear(at, { language: 'de', diarize: true, keyterm: ['head race', 'sluice'] }),
}
