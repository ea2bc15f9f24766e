import { createHash } from 'node:crypto'
import { tidyKeyterms } from '../../formats/transcription/keyterms.ts'
import { polledJob } from '../../formats/transcription/polled-job.ts'
import { soundBody } from './sound-body.ts'
import { toldLanguage } from '../../formats/transcription/told-language.ts'
import { parseTranscript, piecesOf } from '../../formats/transcription/transcript-wire.ts'
import { filledTextOrNull } from '../../json/values.ts'
import { readAssemblyAiTranscript } from './transcript.ts'

const transcriptsPath = '/v2/transcript'

/**
 * AssemblyAI's transcripts of recordings: an upload unless the call has a URL, a job, and polls. Deleting a transcript
 * deletes its upload. No call removes an upload without a transcript; AssemblyAI keeps it for two days
 * (https://assemblyai.com/docs/faq/does-assemblyai-offer-zero-data-retention).
 */
export const assemblyAiTranscription = polledJob({
  kind: 'assemblyai.transcript',
  path: transcriptsPath,
  upload: {
    kind: 'assemblyai.upload',
    request: ({ call }) => ({
      method: 'POST',
      path: '/v2/upload',
      headers: { 'content-type': 'application/octet-stream' },
      body: soundBody(call.audio),
    }),
    addressIn: (reply) => filledTextOrNull(reply['upload_url']),
    idIn: (reply) => filledTextOrNull(reply['upload_url'])?.split('/').at(-1) ?? null,
  },
  // The gateway sets speakers, terms and the model; webhooks would inform others about the job.
  reserved: (
    'audio_url speech_models speech_model language_code language_detection speaker_labels ' +
    'keyterms_prompt temperature webhook_url webhook_auth_header_name webhook_auth_header_value'
  ).split(' '),
  takesTemperature,
  create({ call, endpoint }, { address, options }) {
    const { language, temperature, diarize } = call
    const keyterms = tidyKeyterms(call.keyterms)
    const body = JSON.stringify({
      audio_url: address,
      ...options,
      speech_models: [endpoint.upstreamModel],
      // Without both AssemblyAI assumes English.
      ...(language === null
        ? { language_detection: true }
        : { language_code: toldLanguage(language, endpoint) }),
      ...(diarize ? { speaker_labels: true } : {}),
      ...(keyterms.length > 0 ? { keyterms_prompt: keyterms } : {}),
      ...(temperature !== null && takesTemperature(endpoint.upstreamModel) ? { temperature } : {}),
    })
    const headers = { 'content-type': 'application/json' }
    return { method: 'POST', path: transcriptsPath, headers, body: [body] }
  },
  listing: {
    markerOf: (_, address) => digestOf(address ?? ''),
    max: 200,
    olderThan: 'before_id',
    entriesIn: ({ bytes }) => piecesOf(parseTranscript(bytes)['transcripts']),
    // The listing blanks the URLs of deleted transcripts, so only remaining ones have their marker.
    read: ({ audio_url: url, created }) => ({
      marker: typeof url === 'string' ? digestOf(url) : null,
      created,
    }),
  },
  // AssemblyAI's documentation says three seconds; a short recording is done sooner.
  lookWaitsMs: [250, 750, 2_000, 3_000],
  stateOf({ status, error }) {
    if (status === 'queued' || status === 'processing') return 'running'
    if (status === 'error') return { reason: filledTextOrNull(error) ?? '' }
    return status === 'completed' ? 'done' : null
  },
  read: (transcript, _, { call }) => readAssemblyAiTranscript(transcript, call.language),
})

function takesTemperature(model: string): boolean {
  return model.startsWith('universal-3')
}

/** A URL may be a secret of the caller, so only its digest is stored and compared. */
function digestOf(audioUrl: string): string {
  return createHash('sha256').update(audioUrl).digest('hex')
}
