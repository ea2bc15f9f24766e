import textToSpeech from '@google-cloud/text-to-speech'

function clientOf({ url, key }) {
  const { hostname, port } = new URL(url)
  const rest = { fallback: true, protocol: 'http', apiEndpoint: hostname, port: Number(port) }
  return new textToSpeech.v1.TextToSpeechClient({ ...rest, apiKey: key })
}

const asked = {
  input: { text: 'Hello there' },
  voice: { languageCode: 'en-US', name: 'en-US-Chirp3-HD-Kore' },
}

export const intentions = {
  mp3: (at) => clientOf(at).synthesizeSpeech({ ...asked, audioConfig: { audioEncoding: 'MP3' } }),
  pcm: (at) =>
    clientOf(at).synthesizeSpeech({
      ...asked,
      audioConfig: { audioEncoding: 'PCM', sampleRateHertz: 24_000, speakingRate: 1.2 },
    }),
}
