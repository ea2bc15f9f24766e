import { ElevenLabsClient } from '@elevenlabs/elevenlabs-js'

const clientOf = ({ url, key }) => new ElevenLabsClient({ apiKey: key, baseUrl: url, maxRetries: 0 })
const fileOf = ({ sound }) => new File([sound], 'audio.wav', { type: 'audio/wav' })

async function hear(at, asked) {
  const client = clientOf(at)
  const { transcriptionId } = await client.speechToText.convert({ modelId: 'scribe_v2', ...asked })
  await client.speechToText.transcripts.delete(transcriptionId)
}

const speak = (at, asked) =>
  clientOf(at).textToSpeech.stream('JBFqnCBsd6RMkjVDRZzb', {
    text: 'Hello there',
    modelId: 'eleven_flash_v2_5',
    ...asked,
  })

export const intentions = {
  mp3: (at) => speak(at, { outputFormat: 'mp3_44100_128' }),
  pcm: (at) => speak(at, { outputFormat: 'pcm_24000', voiceSettings: { speed: 1.2 } }),
  transcript: (at) => hear(at, { file: fileOf(at), timestampsGranularity: 'none' }),
  detailed: (at) =>
    hear(at, {
      file: fileOf(at),
      timestampsGranularity: 'word',
      languageCode: 'de',
      diarize: true,
      keyterms: ['head race', 'sluice'],
    }),
  address: (at) => hear(at, { sourceUrl: at.address, timestampsGranularity: 'word', languageCode: 'fr' }),
}
