import type { SpeechAdapter } from '../../canonical/audio.ts'
import { fieldError } from '../../core/errors.ts'
import { billedCharacters, mpegOr, rawSpeech } from '../../formats/speech/raw-speech.ts'
import {
  contractSamples,
  speechRequestAdapter,
  speedMember,
} from '../../formats/speech/speech-request-adapter.ts'

/**
 * ElevenLabs' text to speech, streamed as bytes. The voice is in the path, the format in the query, and the billed
 * characters in a header.
 */
export const elevenLabsSpeech: SpeechAdapter = speechRequestAdapter({
  path: ({ voice, format }) =>
    `/text-to-speech/${segmentOf(voice ?? '')}/stream?output_format=${format === 'mp3' ? 'mp3_44100_128' : 'pcm_24000'}`,
  body: (asked) => ({
    text: asked.call.input,
    model_id: asked.endpoint.upstreamModel,
    ...(asked.call.speed === 1 ? {} : { voice_settings: speedMember('speed', asked) }),
  }),
  // The path and the query carry these.
  reserved: ['output_format', 'voice_id'],
  open: ({ format }, { headers }) =>
    rawSpeech(mpegOr(format, contractSamples), billedCharacters(headers.get('character-cost'))),
})

/** A voice as one segment of a path. Dots alone would lead to another path, and escapes do not prevent that. */
function segmentOf(voice: string): string {
  if (/^\.{1,2}$/.test(voice))
    throw fieldError('voice', 'is no id of a voice. Name one that the provider lists.')
  return encodeURIComponent(voice)
}
