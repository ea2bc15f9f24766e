import type { UpstreamRequest } from '../../canonical/upstream.ts'
import { audioPart, wavPart } from '../../formats/transcription/audio-part.ts'
import type { JobFault } from '../../formats/transcription/failed-job.ts'
import { tidyKeyterms } from '../../formats/transcription/keyterms.ts'
import { encodeForm } from '../../formats/transcription/multipart-body.ts'
import { polledJob, type AskedTranscription } from '../../formats/transcription/polled-job.ts'
import { durationIn, parseEntries } from '../../formats/transcription/transcript-wire.ts'
import { filledTextOrNull } from '../../json/values.ts'
import { readRevAiTranscript } from './transcript.ts'

const jobsPath = '/jobs'

/** The cause behind each of Rev AI's failure types; the text beside it is for people. */
const faults: ReadonlyMap<unknown, JobFault> = new Map([
  ['download_failure', 'sound'],
  ['duration_exceeded', 'sound'],
  ['duration_too_short', 'sound'],
  ['invalid_media', 'sound'],
  ['empty_media', 'sound'],
  ['insufficient_balance', 'account'],
  ['invoicing_limit_exceeded', 'account'],
])

/**
 * Rev AI's asynchronous jobs: created with the sound or its URL, polled, then the transcript is read. Once a job has
 * ended it can be removed with all that belongs to it; before, the removal is refused with 409
 * (https://docs.rev.ai/api/asynchronous/reference).
 */
export const revAiTranscription = polledJob({
  kind: 'revai.job',
  path: jobsPath,
  // The gateway sets the sound, speakers, terms, language and transcriber. A callback would inform others about the
  // job, and a deletion time could come before the transcript is read. Channels, summaries and translations cost more
  // and are not read.
  reserved: (
    'source_config media_url media transcriber language skip_diarization custom_vocabularies metadata ' +
    'notification_config callback_url delete_after_seconds speaker_channels_count summarization_config ' +
    'translation_config'
  ).split(' '),
  create(asked, { address, options: passed }) {
    const options = { ...passed, ...optionsOf(asked) }
    const sent =
      address === null ? formOf(asked, options) : jsonOf({ source_config: { url: address }, ...options })
    return { method: 'POST', path: jobsPath, ...sent }
  },
  listing: {
    markerOf: ({ context }) => context.generationId,
    max: 1_000,
    olderThan: 'starting_after',
    entriesIn: ({ bytes }) => parseEntries(bytes),
    read: ({ metadata, created_on: created }) => ({ marker: metadata, created }),
  },
  lookWaitsMs: [500, 1_000, 2_000, 3_000],
  stateOf({ status, failure, failure_detail: detail }) {
    if (status === 'in_progress') return 'running'
    if (status !== 'failed') return status === 'transcribed' ? 'done' : null
    return {
      reason: filledTextOrNull(detail) ?? filledTextOrNull(failure) ?? '',
      fault: faults.get(failure) ?? 'provider',
    }
  },
  transcript: { path: '/transcript', headers: { accept: 'application/vnd.rev.transcript.v1.0+json' } },
  read: (transcript, { id, wire }, { call }) =>
    readRevAiTranscript(transcript, {
      id,
      language: filledTextOrNull(wire['language']) ?? call.language,
      durationSeconds: durationIn(wire['duration_seconds']),
      diarize: call.diarize,
    }),
})

type Sent = Pick<UpstreamRequest, 'headers' | 'body'>

function jsonOf(options: object): Sent {
  return { headers: { 'content-type': 'application/json' }, body: [JSON.stringify(options)] }
}

function formOf({ call: { audio } }: AskedTranscription, options: object): Sent {
  const part = audio.format === 'pcm' ? wavPart : audioPart
  const file = { ...part(audio), name: 'media' }
  const { contentType, body } = encodeForm([['options', JSON.stringify(options)]], file)
  return { headers: { 'content-type': contentType }, body }
}

function optionsOf({ call, endpoint, context }: AskedTranscription): Record<string, unknown> {
  const phrases = tidyKeyterms(call.keyterms)
  return {
    transcriber: endpoint.upstreamModel,
    language: languageOf(call.language, endpoint.audio?.languages ?? null),
    // Rev AI separates speakers by default.
    skip_diarization: !call.diarize,
    ...(phrases.length > 0 ? { custom_vocabularies: [{ phrases }] } : {}),
    // Listings show it, so that a job is found when its id was never received.
    metadata: context.generationId,
  }
}

/** Without a language Rev AI assumes English; its code for Mandarin has three letters. */
function languageOf(language: string | null, known: readonly string[] | null): string {
  if (language === null) return known?.length === 1 && known[0] !== undefined ? known[0] : 'auto'
  return language === 'zh' ? 'cmn' : language
}
