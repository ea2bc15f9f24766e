import { audioPart, wavPart } from '../../formats/transcription/audio-part.ts'
import { tidyKeyterms } from '../../formats/transcription/keyterms.ts'
import { encodeForm } from '../../formats/transcription/multipart-body.ts'
import { polledJob } from '../../formats/transcription/polled-job.ts'
import { toldLanguage } from '../../formats/transcription/told-language.ts'
import { countOrNull, filledTextOrNull, recordOrNull } from '../../json/values.ts'
import { readGladiaTranscript } from './transcript.ts'

const jobsPath = '/v2/pre-recorded'

/**
 * Gladia's transcripts of recordings: an upload unless the call has a URL, a job, and polls. Once a job has ended it
 * can be removed together with its recording; before, the removal is refused with 403
 * (https://docs.gladia.io/api-reference/v2/pre-recorded/delete). Otherwise it stays for twelve months. So does an
 * upload without a job; no call that removes one is documented.
 */
export const gladiaTranscription = polledJob({
  kind: 'gladia.job',
  path: jobsPath,
  upload: {
    kind: 'gladia.upload',
    request({ call: { audio } }) {
      const part = audio.format === 'pcm' ? wavPart(audio) : audioPart(audio)
      const { contentType, body } = encodeForm([], { ...part, name: 'audio' })
      return { method: 'POST', path: '/v2/upload', headers: { 'content-type': contentType }, body }
    },
    addressIn: (reply) => filledTextOrNull(reply['audio_url']),
    idIn: (reply) => filledTextOrNull(recordOrNull(reply['audio_metadata'])?.['id']),
  },
  // The gateway sets speakers, terms and the model; callbacks would inform others about the job.
  reserved: (
    'audio_url model language_config diarization custom_vocabulary custom_vocabulary_config callback ' +
    'callback_config callback_url custom_metadata'
  ).split(' '),
  create({ call, endpoint }, { address, options }) {
    const vocabulary = tidyKeyterms(call.keyterms)
    const { language, diarize } = call
    const body = JSON.stringify({
      audio_url: address,
      ...options,
      model: endpoint.upstreamModel,
      ...(language === null ? {} : { language_config: { languages: [toldLanguage(language, endpoint)] } }),
      ...(diarize ? { diarization: true } : {}),
      ...(vocabulary.length > 0 ? { custom_vocabulary: true, custom_vocabulary_config: { vocabulary } } : {}),
    })
    return { method: 'POST', path: jobsPath, headers: { 'content-type': 'application/json' }, body: [body] }
  },
  listing: null,
  // Gladia's documentation says about one second.
  lookWaitsMs: [250, 750, 1_000],
  stateOf({ status, error_code: code }) {
    if (status === 'queued' || status === 'processing') return 'running'
    if (status === 'error') return { reason: reasonOf(countOrNull(code)) }
    return status === 'done' ? 'done' : null
  },
  read: (transcript, _, { call }) => readGladiaTranscript(transcript, call.language),
})

/**
 * Gladia gives only a status as the reason. These 4xx statuses, which do not concern the account or the rate, blame the
 * audio.
 */
function reasonOf(code: number | null): string {
  if (code === null) return ''
  return [400, 404, 413, 415, 422].includes(code) ? `error ${code}: invalid audio` : `error ${code}`
}
