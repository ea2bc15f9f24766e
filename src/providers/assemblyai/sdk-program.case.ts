import { AssemblyAI } from 'assemblyai'
import type { At, Intentions } from '../../../test/vendor-sdks/programs/at.ts'

type Params = Parameters<AssemblyAI['transcripts']['create']>[0]

async function run(at: At, params: Omit<Params, 'audio_url'>, address?: string): Promise<void> {
  const client = new AssemblyAI({ apiKey: at.key, baseUrl: at.url })
  const audio_url = address ?? (await client.files.upload(Buffer.from(at.sound)))
  const { id } = await client.transcripts.create({ ...params, audio_url }, { poll: false })
  await client.transcripts.get(id)
  await client.transcripts.delete(id)
}

export const intentions: Intentions = {
  transcript: (at) => run(at, { speech_models: ['universal-3-5-pro'], language_detection: true }),
  detailed: (at) =>
    run(at, {
      speech_models: ['universal-3-5-pro'],
      language_code: 'de',
      speaker_labels: true,
      keyterms_prompt: ['head race', 'sluice'],
      temperature: 0.3,
    }),
  address: (at) => run(at, { speech_models: ['universal-2'], language_code: 'fr' }, at.address),
}
