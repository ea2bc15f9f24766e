import { BatchClient } from '@speechmatics/batch-client'
import type { At, Intentions } from '../../../test/vendor-sdks/programs/at.ts'

type Job = Parameters<BatchClient['createTranscriptionJob']>[1]
type Config = Job['transcription_config'] & { model?: string }

/** The steps of its `transcribe`, and the removal of the job. */
async function run(at: At, config: Config, source?: { url: string }): Promise<void> {
  const client = new BatchClient({ apiKey: at.key, apiUrl: `${at.url}/v2`, appId: '' })
  const input = source ?? { data: new Blob([at.sound]), fileName: 'audio.wav' }
  const { id } = await client.createTranscriptionJob(input, { transcription_config: config })
  await client.getJob(id)
  // A URL without a file has no transcript to read.
  if (source === undefined) await client.getJobResult(id, 'json-v2')
  await client.deleteJob(id)
}

const enhanced = { model: 'enhanced' }

export const intentions: Intentions = {
  transcript: (at) => run(at, { ...enhanced, language: 'auto' }),
  detailed: (at) =>
    run(at, {
      ...enhanced,
      language: 'de',
      diarization: 'speaker',
      additional_vocab: [{ content: 'head race' }, { content: 'sluice' }],
    }),
  address: (at) => run(at, { ...enhanced, language: 'en' }, { url: at.address }),
  mandarin: (at) => run(at, { ...enhanced, language: 'cmn' }),
  'several-languages': (at) => run(at, { model: 'melia-1', language: 'multi' }),
}
