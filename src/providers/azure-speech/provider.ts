import { azureSpeechTranscription } from './transcription.ts'
import { bearer, defineProvider } from '../define-provider.ts'
import { fastTranscription } from './capabilities.ts'

/**
 * Fast transcription of Azure Speech. The host names the region of the operator's resource:
 * `https://REGION.api.cognitive.microsoft.com/speechtotext`. The service has no name for its model, so the gateway's
 * name is not sent. The price of an hour is unknown, so the operator states it.
 */
export const azureSpeech = defineProvider({
  slug: 'azure-speech',
  name: 'Azure Speech',
  baseUrl: null,
  baseUrlEndings: ['/speechtotext'],
  auth: { type: 'header', name: 'ocp-apim-subscription-key', prefix: '' },
  // A token of Entra.
  keyForms: { bearer },
  author: 'microsoft',
  listing: null,
  documentedModels: ['fast-transcription'],
  modelRules: fastTranscription,
  adapters: { transcription: azureSpeechTranscription },
})
