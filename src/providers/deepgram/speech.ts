import type { SpeechAdapter } from '../../canonical/audio.ts'
import { fieldError } from '../../core/errors.ts'
import { billedCharacters, mpegOr, rawSpeech } from '../../formats/speech/raw-speech.ts'
import {
  type AskedSpeech,
  contractSamples,
  speechRequestAdapter,
} from '../../formats/speech/speech-request-adapter.ts'

/**
 * Deepgram's Aura as a stream of bytes. All options are in the query, and an option that does not fit the encoding is
 * refused. The voice is part of the model's name: `aura-2` with the voice `thalia-en`, or the full name alone.
 */
export const deepgramSpeech: SpeechAdapter = speechRequestAdapter({
  path(asked) {
    const query = new URLSearchParams({ model: modelOf(asked), ...formats[asked.format] })
    if (asked.call.speed !== 1) query.set('speed', String(asked.call.speed))
    return `/speak?${query}`
  },
  body: ({ call }) => ({ text: call.input }),
  // The body has only the text.
  reserved: ['url', 'callback', 'callback_method'],
  open: ({ format }, { headers }) =>
    rawSpeech(mpegOr(format, contractSamples), billedCharacters(headers.get('dg-char-count'))),
})

const formats = {
  mp3: { encoding: 'mp3' },
  pcm: { encoding: 'linear16', container: 'none', sample_rate: '24000' },
}

/** Names that end with a voice and its language, after the family: `aura-2-thalia-en`, `aura-asteria-en`. */
export const auraVoicePattern = /^(aura(?:-\d+)?)-([a-z]+-[a-z]{2})$/

function modelOf({ endpoint: { upstreamModel, model }, call }: AskedSpeech): string {
  const inName = auraVoicePattern.exec(upstreamModel)?.[2]
  if (inName === undefined)
    return call.voice?.startsWith(`${upstreamModel}-`) ? call.voice : `${upstreamModel}-${call.voice}`
  if (call.voice === null || call.voice === inName || call.voice === upstreamModel) return upstreamModel
  throw fieldError('voice', `is another one than that of ${model}. Leave it out, or name the family alone.`)
}
