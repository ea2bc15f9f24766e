import { speech } from '../asks.ts'
import type { Vendor } from '../vendor.ts'

export const inworld: Vendor = {
  slug: 'inworld',
  sdk: { registry: 'python', versions: { 'inworld-tts': '1.2.1' } },
  program: 'inworld.py',
  base: '/tts/v1',
  simulated: '/inworld/tts/v1',
  asks: {
    mp3: speech('inworld-tts-2', { voice: 'Ashley', response_format: 'mp3' }),
    pcm: speech('inworld-tts-2', { voice: 'Ashley', response_format: 'pcm', speed: 1.2 }),
  },
  differences: [
    {
      at: 'POST /tts/v1/voice:stream: body.temperature',
      sdk: '1',
      ours: null,
      why: 'the SDK spells out its default',
    },
    {
      of: 'mp3',
      at: 'POST /tts/v1/voice:stream: body.audioConfig.speakingRate',
      sdk: '1',
      ours: null,
      why: 'the SDK spells out its default',
    },
  ],
}
