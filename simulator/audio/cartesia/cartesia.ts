import { type AudioApi, fieldOf } from '../audio-api.ts'
import { memberOf } from '../speech-api.ts'
import { cartesiaSpeech, cartesiaStyle } from './speech.ts'
import { cartesiaHearing } from './transcription.ts'

export const cartesia: AudioApi = {
  slug: 'cartesia',
  style: cartesiaStyle,
  uploadBytesMax: 2_000_000_000,
  modelOf: ({ body, json }) => fieldOf(body, 'model') ?? (String(memberOf(json, 'model_id') ?? '') || null),
  operations: [cartesiaSpeech, cartesiaHearing],
}
