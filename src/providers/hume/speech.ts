import type { SpeechAdapter } from '../../canonical/audio.ts'
import { mpegOr, rawSpeech } from '../../formats/speech/raw-speech.ts'
import { speechRequestAdapter, speedMember } from '../../formats/speech/speech-request-adapter.ts'

/** Hume's Octave as a stream of bytes. Its samples have 48,000 Hz; its models are versions. */
export const humeSpeech: SpeechAdapter = speechRequestAdapter({
  path: () => '/tts/stream/file',
  body: (asked) => ({
    utterances: [{ text: asked.call.input, voice: { id: asked.voice }, ...speedMember('speed', asked) }],
    format: { type: asked.format },
    version: /\d+$/.exec(asked.endpoint.upstreamModel)?.[0] ?? asked.endpoint.upstreamModel,
    // Otherwise each piece would begin with a file header.
    strip_headers: true,
  }),
  reserved: ['format', 'num_generations', 'split_utterances', 'include_timestamp_types'],
  open: ({ format }) =>
    rawSpeech(mpegOr(format, { container: 'pcm', encoding: 's16le', rate: 48_000, channels: 1 })),
})
