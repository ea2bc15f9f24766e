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

/** Whose fault each of Rev AI's words for a failure says it is; the words beside it are for people. */
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
 * Rev AI's asynchronous jobs: made with the sound or its address, looked at, then their transcript is read. A job can be
 * removed as soon as it has ended, with all that belongs to it; before, its removal is refused with 409
 * (https://docs.rev.ai/api/asynchronous/reference).
 */
export const revAiTranscription = polledJob({
  kind: 'revai.job',
  path: jobsPath,
  // The sound, speakers, terms, language and transcriber are the gateway's to say. A callback would tell others of the job, a
  // time of its deletion could come before it is read, and channels, summaries and translations cost more and are not read.
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
    // Rev AI tells speakers apart unless it is told not to.
    skip_diarization: !call.diarize,
    ...(phrases.length > 0 ? { custom_vocabularies: [{ phrases }] } : {}),
    // Listings show it, so that a job is found whose id never came.
    metadata: context.generationId,
  }
}

/** Without a language Rev AI takes every recording for English; the code for Mandarin is the longer one. */
function languageOf(language: string | null, known: readonly string[] | null): string {
  if (language === null) return known?.length === 1 && known[0] !== undefined ? known[0] : 'auto'
  return language === 'zh' ? 'cmn' : language
}
