import { GladiaClient } from '@gladiaio/sdk'
import type { At, Intentions } from '../../../test/vendor-sdks/programs/at.ts'

const clientOf = ({ url, key }: At) => new GladiaClient({ apiKey: key, apiUrl: url }).preRecorded()
type Client = ReturnType<typeof clientOf>
type Options = Omit<Parameters<Client['create']>[0], 'audio_url'>

async function run(at: At, options: Options, address?: string): Promise<void> {
  const client = clientOf(at)
  const file = new File([at.sound], 'audio.wav', { type: 'audio/wav' })
  const audio_url = address ?? (await client.uploadFile(file)).audio_url
  const { id } = await client.create({ audio_url, ...options })
  await client.poll(id, { interval: 50 })
  await client.delete(id)
}

export const intentions: Intentions = {
  transcript: (at) => run(at, { model: 'solaria-1' }),
  detailed: (at) =>
    run(at, {
      model: 'solaria-1',
      language_config: { languages: ['de'] },
      diarization: true,
      custom_vocabulary: true,
      custom_vocabulary_config: { vocabulary: ['head race', 'sluice'] },
    }),
  address: (at) => run(at, { model: 'solaria-1', language_config: { languages: ['fr'] } }, at.address),
}
