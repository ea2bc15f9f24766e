import { line, samples, type ProviderRows } from '../../../test/support/provider-rows.ts'

const failure = (code: number, message = 'words') => ({
  contentType: 'application/json',
  body: line({ error: { code, message, details: [] } }),
})

/** The rows of the shared tests for Inworld. */
export const rows: ProviderRows = {
  speech: [
    {
      below: '/inworld/tts/v1',
      model: 'inworld/inworld-tts-2',
      voice: 'Ashley',
      missing: { voice: 'missing', status: 400 },
      speeds: { within: 1.5, beyond: 1.6 },
      billed: 100,
    },
  ],
  speechRequests: [
    {
      model: 'inworld-tts-2',
      fields: { voice: 'v', speed: 1.5 },
      path: '/voice:stream',
      body: {
        text: 'Hello',
        voiceId: 'v',
        modelId: 'inworld-tts-2',
        audioConfig: { audioEncoding: 'PCM', sampleRateHertz: 24_000, speakingRate: 1.5 },
      },
    },
    {
      model: 'inworld-tts-2',
      fields: { voice: 'v', response_format: 'mp3' },
      path: '/voice:stream',
      body: {
        text: 'Hello',
        voiceId: 'v',
        modelId: 'inworld-tts-2',
        audioConfig: { audioEncoding: 'MP3', sampleRateHertz: 48_000, bitRate: 128_000 },
      },
    },
  ],
  speechReplies: [
    {
      name: 'Inworld writes base64 in lines that tell its characters',
      reply: {
        contentType: 'application/json',
        body:
          line({ result: { audioContent: Buffer.from('fo').toString('base64') } }) +
          line({
            result: {
              audioContent: Buffer.from('ur').toString('base64'),
              usage: { processedCharactersCount: 9, modelId: 'inworld-tts-2' },
            },
          }),
      },
      output: samples,
      billed: { characters: 9 },
    },
  ],
  speechFailures: [
    { name: 'Inworld 3', reply: failure(3), type: 'invalid_request' },
    { name: 'Inworld 5', reply: failure(5, 'Unknown voice: v'), type: 'invalid_request', param: 'voice' },
    { name: 'Inworld 8', reply: failure(8), type: 'upstream_rate_limited' },
    { name: 'Inworld 13', reply: failure(13), type: 'provider_failed' },
    { name: 'Inworld 14', reply: failure(14), type: 'provider_overloaded' },
    { name: 'Inworld 16', reply: failure(16), type: 'provider_failed', fault: true },
  ],
}
