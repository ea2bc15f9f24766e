import { HumeClient } from 'hume'
import type { At, Intentions } from '../../../test/vendor-sdks/programs/at.ts'

const clientOf = ({ url, key }: At) => new HumeClient({ apiKey: key, baseUrl: url, maxRetries: 0 })
const utterance = { text: 'Hello there', voice: { id: 'ito' } }

export const intentions: Intentions = {
  mp3: (at) =>
    clientOf(at).tts.synthesizeFileStreaming({
      utterances: [utterance],
      format: { type: 'mp3' },
      version: '2',
      stripHeaders: true,
    }),
  pcm: (at) =>
    clientOf(at).tts.synthesizeFileStreaming({
      utterances: [{ ...utterance, speed: 1.2 }],
      format: { type: 'pcm' },
      version: '1',
      stripHeaders: true,
    }),
}
