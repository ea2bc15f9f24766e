import { lmntSpeech } from './speech.ts'
import { defineProvider } from '../define-provider.ts'
import { lmntModels } from './capabilities.ts'

export const lmnt = defineProvider({
  slug: 'lmnt',
  name: 'LMNT',
  baseUrl: 'https://api.lmnt.com/v1',
  auth: { type: 'header', name: 'x-api-key', prefix: '' },
  keyVariable: 'LMNT_API_KEY',
  author: 'lmnt',
  listing: null,
  documentedModels: ['blizzard'],
  modelRules: lmntModels,
  adapters: { speech: lmntSpeech },
  // The version of its API; it refuses a request without one. This is the newest that its own client sends (PyPI,
  // 2.13.0).
  headers: { 'lmnt-version': '1.2' },
})
