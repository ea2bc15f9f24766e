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

/**
 * Cartesia's `/stt`: OpenAI's form, with words as the only times, and samples described in the query.
 * https://docs.cartesia.ai
 */
export const cartesiaTranscription: TranscriptionAdapter = oneExchange<
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
  // Without a language Cartesia assumes English, and it has no option to detect one.
  if (language !== null) own.push(['language', toldLanguage(language, endpoint)])
  if (responseFormat === 'verbose_json') own.push(['timestamp_granularities[]', 'word'])
  const fields = withPassed(own, passedOptions(call.preferences, endpoint, isPassable))
  const { contentType, body } = encodeForm(fields, audioPart(audio))
  const query = audio.format === 'pcm' ? `?encoding=pcm_s16le&sample_rate=${pcmInputRate}` : ''
  return { method: 'POST', path: `/stt${query}`, headers: { 'content-type': contentType }, body }
}

/** Options that the gateway decides; the caller cannot set them. */
const reserved = new Set(['file', 'model', 'language', 'timestamp_granularities', 'encoding', 'sample_rate'])

function isPassable(name: string): boolean {
  return !reserved.has(name.replace(/\[\]$/, ''))
}
