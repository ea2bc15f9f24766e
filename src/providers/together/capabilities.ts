import type { ModelRule } from '../../catalog/capabilities.ts'

/** Models that Together resells and few others have. */
export const togetherModels: readonly ModelRule[] = [
  { name: /cartesia\/sonic/i, modality: 'speech' },
  // The words inside its speaker segments show who says them.
  { name: /whisper/i, audio: { diarize: true, uploadFormats: ['wav', 'mp3', 'm4a', 'webm', 'flac'] } },
]
