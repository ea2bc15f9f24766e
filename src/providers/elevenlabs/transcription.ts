import {
  isRemoteAudio,
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
import { readElevenLabsTranscript, transcriptIdIn } from './transcript.ts'
import { jobIdOf } from '../../formats/transcription/job-id.ts'
import { tidyKeyterms } from '../../formats/transcription/keyterms.ts'
import { encodeForm } from '../../formats/transcription/multipart-body.ts'
import { passedOptions, type WireField, withPassed } from '../../formats/transcription/passed-options.ts'
import { parseTranscript } from '../../formats/transcription/transcript-wire.ts'

const transcriptKind = 'elevenlabs.transcript'

/**
 * ElevenLabs' `/v1/speech-to-text`: a form with the audio or its URL
 * (https://elevenlabs.io/docs/api-reference/speech-to-text/convert). It keeps a logged transcript until the transcript
 * is removed.
 */
export const elevenLabsTranscription: TranscriptionAdapter = {
  ...oneExchange<TranscriptionCall, CanonicalTranscription>({
    encode: ({ call, endpoint }) => ({
      request: toRequest(call, endpoint),
      dropped: optionsLeftOut(call.preferences, endpoint, isPassable),
      ...(call.preferences.requireZdr ? {} : { makes: { kind: transcriptKind, marker: null } }),
    }),
    decode: ({ bytes }, { call }) => readElevenLabsTranscript(bytes, call.language),
    readError: readUpstreamFailure,
  }),
  resources: {
    [transcriptKind]: {
      readId: ({ bytes }) => jobIdOf(transcriptIdIn(parseTranscript(bytes))),
      remove: (id) => ({
        method: 'DELETE',
        path: `/speech-to-text/transcripts/${encodeURIComponent(id)}`,
        headers: {},
        body: null,
      }),
      listing: null,
    },
  },
}

function toRequest(call: TranscriptionCall, endpoint: Endpoint): UpstreamRequest {
  const { audio, preferences } = call
  const fields = withPassed(ownFields(call, endpoint), passedOptions(preferences, endpoint, isPassable))
  const { contentType, body } = isRemoteAudio(audio)
    ? encodeForm([...fields, ['source_url', audio.url]], null)
    : encodeForm(fields, audioPart(audio))
  // Only some accounts may use this, and only they are promised that nothing is kept.
  const query = preferences.requireZdr ? '?enable_logging=false' : ''
  return {
    method: 'POST',
    path: `/speech-to-text${query}`,
    headers: { 'content-type': contentType },
    body,
  }
}

function ownFields(call: TranscriptionCall, { upstreamModel }: Endpoint): WireField[] {
  const { language, temperature, diarize, keyterms, responseFormat, audio } = call
  const wantsWords = responseFormat === 'verbose_json' || diarize
  const fields: WireField[] = [
    ['model_id', upstreamModel],
    ['timestamps_granularity', wantsWords ? 'word' : 'none'],
  ]
  if (language !== null) fields.push(['language_code', language])
  if (temperature !== null) fields.push(['temperature', String(temperature)])
  if (diarize) fields.push(['diarize', 'true'])
  for (const term of tidyKeyterms(keyterms)) fields.push(['keyterms', term])
  if (!isRemoteAudio(audio) && audio.format === 'pcm') fields.push(['file_format', 'pcm_s16le_16'])
  return fields
}

/**
 * Options that the gateway decides, or that would change the target or the form of the answer. The caller cannot set
 * them.
 */
const reserved = new Set(
  ['model_id', 'file', 'source_url', 'cloud_storage_url', 'language_code', 'temperature', 'diarize']
    .concat(['timestamps_granularity', 'keyterms', 'file_format', 'enable_logging', 'additional_formats'])
    .concat(['multichannel_output_style', 'webhook', 'webhook_id', 'webhook_metadata']),
)

function isPassable(name: string): boolean {
  return !reserved.has(name)
}
