import type { SpeechAdapter } from '../../canonical/audio.ts'
import { mpegOr, rawSpeech } from '../../formats/speech/raw-speech.ts'
import { contractSamples, speechRequestAdapter } from '../../formats/speech/speech-request-adapter.ts'

/** LMNT's speech as a stream of bytes. It has no speed and reports no usage. */
export const lmntSpeech: SpeechAdapter = speechRequestAdapter({
  path: () => '/ai/speech/bytes',
  body: ({ call, endpoint, voice, format }) => ({
    text: call.input,
    voice,
    model: endpoint.upstreamModel,
    format: format === 'mp3' ? 'mp3' : 'pcm_s16le',
    sample_rate: 24_000,
  }),
  reserved: ['debug'],
  open: ({ format }) => rawSpeech(mpegOr(format, contractSamples)),
})
