import { gladiaTranscription } from './transcription.ts'
import { defineProvider } from '../define-provider.ts'
import { gladiaModels } from './capabilities.ts'

/** Transcripts of recordings, which are jobs. Their price is unknown, so the operator states it. */
export const gladia = defineProvider({
  slug: 'gladia',
  name: 'Gladia',
  baseUrl: 'https://api.gladia.io',
  keyVariable: 'GLADIA_API_KEY',
  author: 'gladia',
  auth: { type: 'header', name: 'x-gladia-key', prefix: '' },
  listing: null,
  documentedModels: ['solaria-1', 'solaria-3', 'solaria-fusion'],
  family: gladiaModels,
  adapters: { transcription: gladiaTranscription },
  recordedAudio: ['transcription'],
})
