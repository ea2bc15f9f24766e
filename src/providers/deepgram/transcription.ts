import {
  isRemoteAudio,
  pcmInputRate,
  type CanonicalTranscription,
  type TranscriptionAdapter,
} from '../../canonical/audio.ts'
import type { TranscriptionCall } from '../../canonical/call.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import { oneExchange } from '../../canonical/steps.ts'
import type { UpstreamRequest } from '../../canonical/upstream.ts'
import { optionsLeftOut } from '../../formats/provider-options.ts'
import { readUpstreamFailure } from '../../formats/upstream-errors.ts'
import { readDeepgramTranscript } from './transcript.ts'
import { tidyKeyterms } from '../../formats/transcription/keyterms.ts'
import { passedOptions, type WireField, withPassed } from '../../formats/transcription/passed-options.ts'

/**
 * Deepgram's `/v1/listen`: options in the query; the audio as the body, or its URL in JSON. Words always have times and
 * confidences. https://developers.deepgram.com/docs/pre-recorded-audio
 */
export const deepgramTranscription: TranscriptionAdapter = oneExchange<
  TranscriptionCall,
  CanonicalTranscription
>({
  encode: ({ call, endpoint }) => ({
    request: toRequest(call, endpoint),
    dropped: [
      ...optionsLeftOut(call.preferences, endpoint, isPassable),
      // The service has no temperature.
      ...(call.temperature === null ? [] : ['temperature']),
    ],
  }),
  decode: ({ bytes }, { call }) => readDeepgramTranscript(bytes, call.language),
  readError: readUpstreamFailure,
})

function toRequest(call: TranscriptionCall, endpoint: Endpoint): UpstreamRequest {
  const { audio } = call
  const options = withPassed(
    ownOptions(call, endpoint),
    passedOptions(call.preferences, endpoint, isPassable),
  )
  const query = new URLSearchParams(options.map(([name, value]): [string, string] => [name, value]))
  const path = `/listen?${query}`
  if (isRemoteAudio(audio)) {
    const body = [new TextEncoder().encode(JSON.stringify({ url: audio.url }))]
    return { method: 'POST', path, headers: { 'content-type': 'application/json' }, body }
  }
  const body = { contentLength: audio.sizeBytes, open: () => audio.open() }
  return { method: 'POST', path, headers: { 'content-type': audio.contentType }, body }
}

/**
 * The options of the call. Punctuation is on unless the caller's own options say otherwise, because plain words are
 * hard to read.
 */
function ownOptions(call: TranscriptionCall, { upstreamModel }: Endpoint): WireField[] {
  const { language, diarize, keyterms, responseFormat, preferences, audio } = call
  const options: WireField[] = [['model', upstreamModel]]
  // Without both Deepgram assumes English.
  options.push(language === null ? ['detect_language', 'true'] : ['language', language])
  options.push(['punctuate', 'true'])
  if (responseFormat === 'verbose_json') options.push(['utterances', 'true'])
  if (diarize) options.push(['diarize_model', 'latest'])
  for (const term of tidyKeyterms(keyterms)) options.push(['keyterm', term])
  if (preferences.denyDataCollection || preferences.requireZdr) options.push(['mip_opt_out', 'true'])
  if (!isRemoteAudio(audio) && audio.format === 'pcm') {
    options.push(['encoding', 'linear16'], ['sample_rate', String(pcmInputRate)])
  }
  return options
}

/** Options that the gateway decides, or that would send the answer elsewhere. The caller cannot set them. */
const reserved = new Set([
  'model',
  'language',
  'detect_language',
  'diarize',
  'diarize_model',
  'keyterm',
  'keywords',
  'encoding',
  'sample_rate',
  'channels',
  'mip_opt_out',
  'callback',
  'callback_method',
])

function isPassable(name: string): boolean {
  return !reserved.has(name)
}
