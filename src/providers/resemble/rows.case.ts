import { base64, sound, type ProviderRows } from '../../../test/support/provider-rows.ts'

const failure = (message: string) => ({
  contentType: 'application/json',
  body: JSON.stringify({ success: false, error_name: 'Failed', message, issues: [] }),
})

/** The rows of the shared tests for Resemble AI. */
export const rows: ProviderRows = {
  speech: [
    {
      below: '/resemble',
      model: 'resemble/chatterbox-turbo',
      voice: '55592656',
      missing: { voice: 'missing', status: 400 },
    },
  ],
  speechRequests: [
    {
      model: 'chatterbox-turbo',
      fields: { voice: 'v' },
      path: '/stream',
      body: {
        voice_uuid: 'v',
        data: 'Hello',
        model: 'chatterbox-turbo',
        sample_rate: 48_000,
        precision: 'PCM_16',
        output_format: 'wav',
      },
    },
  ],
  speechReplies: [
    {
      name: 'Resemble streams a WAV file',
      reply: { contentType: 'audio/wav', body: sound },
      output: { container: 'wav' },
      billed: null,
    },
    {
      name: 'Resemble may answer in one piece that tells the time',
      reply: {
        contentType: 'application/json',
        body: JSON.stringify({ success: true, audio_content: base64, duration: 1.25, issues: [] }),
      },
      output: { container: 'wav' },
      billed: { audioMilliseconds: 1_250 },
    },
  ],
  speechFailures: [
    {
      name: 'Resemble, of the voice',
      reply: failure('Voice was not found'),
      type: 'invalid_request',
      param: 'voice',
    },
    { name: 'Resemble, of itself', reply: failure('Something broke'), type: 'provider_failed' },
  ],
}
