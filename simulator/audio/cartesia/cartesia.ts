import type { AudioApi } from '../audio-api.ts'
import { memberOf } from '../speech-api.ts'
import { cartesiaSpeech, cartesiaStyle } from './speech.ts'

export const cartesia: AudioApi = {
  slug: 'cartesia',
  style: cartesiaStyle,
  uploadBytesMax: 1_000_000,
  modelOf: ({ json }) => String(memberOf(json, 'model_id') ?? '') || null,
  operations: [cartesiaSpeech],
}
