import { DeepgramClient } from '@deepgram/sdk'
import type { At, Intentions } from '../../../test/vendor-sdks/programs/at.ts'

function clientOf({ url, key }: At) {
  const environment = { base: url, production: url, agent: url, agentRest: url }
  return new DeepgramClient({ apiKey: key, environment, maxRetries: 0 })
}

const hear = (at: At, more: Record<string, unknown>) =>
  clientOf(at).listen.v1.media.transcribeFile(at.sound, { model: 'nova-3', punctuate: true, ...more })
const spoken = { text: 'Hello there', model: 'aura-2-thalia-en' } as const

export const intentions: Intentions = {
  mp3: (at) => clientOf(at).speak.v1.audio.generate({ ...spoken, encoding: 'mp3' }),
  pcm: (at) =>
    clientOf(at).speak.v1.audio.generate({
      ...spoken,
      encoding: 'linear16',
      container: 'none',
      sample_rate: 24_000,
      speed: 1.2,
    }),
  transcript: (at) => hear(at, { detect_language: true }),
  detailed: (at) =>
    hear(at, {
      language: 'de',
      utterances: true,
      diarize_model: 'latest',
      keyterm: ['head race', 'sluice'],
    }),
  address: (at) =>
    clientOf(at).listen.v1.media.transcribeUrl({
      url: at.address,
      model: 'nova-3',
      language: 'en',
      punctuate: true,
    }),
  private: (at) => hear(at, { language: 'en', mip_opt_out: true }),
}
