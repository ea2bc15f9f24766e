import type { ModelRule } from '../../catalog/capabilities.ts'

/** What Together resells and few others have. */
export const togetherModels: readonly ModelRule[] = [
  { name: /cartesia\/sonic/i, modality: 'speech' },
  // The words in its list of speakers' segments say whose they are.
  { name: /whisper/i, audio: { diarize: true, uploadFormats: ['wav', 'mp3', 'm4a', 'webm', 'flac'] } },
]
