import { RevAiApiClient } from 'revai-node-sdk'
import type { At, Intentions } from '../../../test/vendor-sdks/programs/at.ts'

type Options = NonNullable<Parameters<RevAiApiClient['submitJob']>[0]>

async function run(at: At, options: Options): Promise<void> {
  const deploymentConfig = { baseUrl: at.url, baseWebsocketUrl: at.url }
  const client = new RevAiApiClient({ token: at.key, deploymentConfig })
  const { id } = await (options.source_config === undefined
    ? client.submitJobAudioData(Buffer.from(at.sound), 'audio.wav', options)
    : client.submitJob(options))
  await client.getJobDetails(id)
  // A URL without a file has no transcript to read.
  if (options.source_config === undefined) await client.getTranscriptObject(id)
  await client.deleteJob(id)
}

export const intentions: Intentions = {
  transcript: (at) => run(at, { transcriber: 'machine', language: 'auto', skip_diarization: true }),
  detailed: (at) =>
    run(at, {
      transcriber: 'machine',
      language: 'de',
      skip_diarization: false,
      custom_vocabularies: [{ phrases: ['head race', 'sluice'] }],
    }),
  address: (at) =>
    run(at, {
      transcriber: 'machine',
      language: 'en',
      skip_diarization: true,
      source_config: { url: at.address },
    }),
}
