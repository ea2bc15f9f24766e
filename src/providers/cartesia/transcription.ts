import {
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
import { audioPart } from '../../formats/transcription/audio-part.ts'
import { encodeForm } from '../../formats/transcription/multipart-body.ts'
import { readOpenAiTranscript } from '../../formats/transcription/openai-transcript.ts'
import { passedOptions, type WireField, withPassed } from '../../formats/transcription/passed-options.ts'
import { toldLanguage } from '../../formats/transcription/told-language.ts'

/** Cartesia's `/stt`: OpenAI's form with words as its only times, and samples described in the address. https://docs.cartesia.ai */
export const cartesiaTranscription: TranscriptionAdapter = oneExchange<
  TranscriptionCall,
  CanonicalTranscription
>({
  encode: ({ call, endpoint }) => ({
    request: toRequest(call, endpoint),
    dropped: [
      ...optionsLeftOut(call.preferences, endpoint, isPassable),
      // It has no temperature.
      ...(call.temperature === null ? [] : ['temperature']),
    ],
  }),
  decode: ({ bytes }, { call, context }) =>
    readOpenAiTranscript(bytes, {
      areSegmentsWords: false,
      isTextOfSegments: false,
      language: call.language,
      joinedTerms: null,
      context,
    }),
  readError: readUpstreamFailure,
})

function toRequest(call: TranscriptionCall, endpoint: Endpoint): UpstreamRequest {
  const { audio, language, responseFormat } = call
  const own: WireField[] = [['model', endpoint.upstreamModel]]
  // Without one it takes everything for English, and there is no word for finding out.
  if (language !== null) own.push(['language', toldLanguage(language, endpoint)])
  if (responseFormat === 'verbose_json') own.push(['timestamp_granularities[]', 'word'])
  const fields = withPassed(own, passedOptions(call.preferences, endpoint, isPassable))
  const { contentType, body } = encodeForm(fields, audioPart(audio))
  const query = audio.format === 'pcm' ? `?encoding=pcm_s16le&sample_rate=${pcmInputRate}` : ''
  return { method: 'POST', path: `/stt${query}`, headers: { 'content-type': contentType }, body }
}

/** What the gateway itself decides is not for the caller to set. */
const reserved = new Set(['file', 'model', 'language', 'timestamp_granularities', 'encoding', 'sample_rate'])

function isPassable(name: string): boolean {
  return !reserved.has(name.replace(/\[\]$/, ''))
}
