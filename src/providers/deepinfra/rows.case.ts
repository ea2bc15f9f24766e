import { faulty, type ProviderRows } from '../../../test/support/provider-rows.ts'
import { heardText, usual, utterances } from '../../../test/support/transcribers.ts'

/** The rows of the shared tests for DeepInfra. */
export const rows: ProviderRows = {
  addresses: [
    { asked: 'messages', through: 'messages', address: 'https://api.deepinfra.com/anthropic/v1/messages' },
    { asked: 'responses', through: 'responses', address: 'https://api.deepinfra.com/v1/responses' },
  ],
  refusals: [
    {
      status: 422,
      body: { detail: 'tool_choice is not supported' },
      ...faulty,
    },
  ],
  transcribers: [
    {
      path: '/deepinfra/v1/openai',
      upstream: 'openai/whisper-large-v3',
      text: heardText,
      language: 'en',
      segments: utterances,
      words: true,
      speakers: null,
      keyterms: null,
      sends: usual,
      url: null,
      pcm: 'wav',
    },
  ],
  withoutSdk:
    'its package asks an older API of its own; for this address its documents name the SDK of OpenAI',
}
