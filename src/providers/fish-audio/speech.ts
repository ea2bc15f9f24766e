import type { SpeechAdapter } from '../../canonical/audio.ts'
import { messagePackWithClips } from './clip-message-pack.ts'
import { mpegOr, rawSpeech } from '../../formats/speech/raw-speech.ts'
import { refuseVoiceBesideClips } from '../../formats/speech/reference-members.ts'
import {
  type AskedSpeech,
  contractSamples,
  speechRequestAdapter,
  speedMember,
} from '../../formats/speech/speech-request-adapter.ts'

/** The voice when the caller names none. */
export const fishOwnVoice = 'default'

const formats = {
  mp3: { format: 'mp3', sample_rate: 44_100, mp3_bitrate: 128 },
  pcm: { format: 'pcm', sample_rate: 24_000 },
}

/**
 * Fish Audio's speech as a stream of bytes. The model is in a header; an unknown model silently becomes a default.
 * Reference clips are sent as MessagePack, each with its transcript; other requests are JSON.
 */
export const fishSpeech: SpeechAdapter = speechRequestAdapter({
  path: () => '/tts',
  headers: ({ endpoint }) => ({ model: endpoint.upstreamModel }),
  body: (asked) => ({
    text: asked.call.input,
    ...voiceMember(asked),
    ...formats[asked.format],
    ...(asked.call.speed === 1 ? {} : { prosody: speedMember('speed', asked) }),
  }),
  reserved: ['reference_id', 'references', 'format', 'sample_rate', 'mp3_bitrate', 'opus_bitrate'],
  encode(body, { call }) {
    if (call.references.length === 0) return null
    return { contentType: 'application/msgpack', pieces: messagePackWithClips(body, call.references) }
  },
  open: ({ format }) => rawSpeech(mpegOr(format, contractSamples)),
})

/** Clips replace the voice. */
function voiceMember({ call, voice }: AskedSpeech): Readonly<Record<string, unknown>> {
  refuseVoiceBesideClips(call, fishOwnVoice)
  return call.references.length > 0 || voice === fishOwnVoice ? {} : { reference_id: voice }
}
