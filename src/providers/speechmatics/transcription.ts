import { audioPart, wavPart } from '../../formats/transcription/audio-part.ts'
import { tidyKeyterms } from '../../formats/transcription/keyterms.ts'
import { encodeForm } from '../../formats/transcription/multipart-body.ts'
import { polledJob, type AskedTranscription } from '../../formats/transcription/polled-job.ts'
import { toldLanguage } from '../../formats/transcription/told-language.ts'
import { parseTranscript, piecesOf } from '../../formats/transcription/transcript-wire.ts'
import { filledTextOrNull, recordOrNull } from '../../json/values.ts'
import { readSpeechmaticsTranscript } from './transcript.ts'

/**
 * Speechmatics' batch jobs: created with the sound or its URL, polled, then the transcript is read. Removing a running
 * job ends it; a job that is not removed is kept for seven days
 * (https://docs.speechmatics.com/api-ref/batch/delete-a-job).
 */
export const speechmaticsTranscription = polledJob({
  kind: 'speechmatics.job',
  path: '/jobs',
  reserved: (
    'language language_hints model operating_point diarization additional_vocab fetch_data ' +
    'notification_config'
  ).split(' '),
  create(asked, { address, options }) {
    const { audio } = asked.call
    const config = JSON.stringify({
      type: 'transcription',
      ...(address === null ? {} : { fetch_data: { url: address } }),
      transcription_config: { ...options, ...configOf(asked) },
      // Listings show it, so that a job is found when its id was never received.
      tracking: { reference: asked.context.generationId },
    })
    const part = audio.format === 'pcm' ? wavPart : audioPart
    const file = address === null ? { ...part(audio), name: 'data_file' } : null
    const { contentType, body } = encodeForm([['config', config]], file)
    return { method: 'POST', path: '/jobs/', headers: { 'content-type': contentType }, body }
  },
  listing: {
    markerOf: ({ context }) => context.generationId,
    max: 100,
    olderThan: 'created_before',
    entriesIn: ({ bytes }) => piecesOf(parseTranscript(bytes)['jobs']),
    // Each entry has the configuration of its creation.
    read({ created_at: created, config }) {
      if (typeof created !== 'string') return null
      const { reference } = recordOrNull(recordOrNull(config)?.['tracking']) ?? {}
      return { marker: reference, created, cursor: created }
    },
  },
  lookWaitsMs: [250, 750, 2_000, 3_000],
  // Turns off the provider's own wait: the gateway waits itself and can end its wait.
  lookQuery: '?wait=0',
  stateOf(look) {
    const { status, errors } = recordOrNull(look['job']) ?? {}
    if (status === 'running' || status === 'done') return status
    if (status !== 'rejected' && status !== 'deleted' && status !== 'expired') return null
    const reasons = (piecesOf(errors) ?? []).flatMap(({ message }) => filledTextOrNull(message) ?? [])
    return { reason: reasons.length > 0 ? reasons.join('; ') : `the job is ${status}` }
  },
  transcript: { path: '/transcript?format=json-v2' },
  read: (transcript, _, { call }) => readSpeechmaticsTranscript(transcript, call.language),
  removeQuery: '?force=true',
})

function configOf({ call, endpoint }: AskedTranscription): Record<string, unknown> {
  const terms = tidyKeyterms(call.keyterms)
  return {
    ...languageOf(call.language, endpoint),
    model: endpoint.upstreamModel,
    ...(call.diarize ? { diarization: 'speaker' } : {}),
    ...(terms.length > 0 ? { additional_vocab: terms.map((content) => ({ content })) } : {}),
  }
}

/**
 * Melia hears several languages at once and takes only `multi`; the caller's language becomes the expected one
 * (https://docs.speechmatics.com/speech-to-text/features/mixed-language-transcription).
 */
function languageOf(
  language: string | null,
  endpoint: AskedTranscription['endpoint'],
): Record<string, unknown> {
  const told = language === null ? null : toldLanguage(language, endpoint)
  if (!endpoint.upstreamModel.startsWith('melia')) return { language: told ?? 'auto' }
  return { language: 'multi', ...(told === null ? {} : { language_hints: [told] }) }
}
