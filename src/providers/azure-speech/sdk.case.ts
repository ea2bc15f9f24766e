import { inDetail, ofAddress, transcription } from '../../../test/vendor-sdks/asks.ts'
import type { VendorSdk } from '../../../test/vendor-sdks/vendor.ts'

export const sdk: VendorSdk = {
  packages: { registry: 'python', versions: { 'azure-ai-transcription': '1.0.0' } },
  base: '/speechtotext',
  simulated: '/azure-speech/speechtotext',
  asks: {
    transcript: transcription('fast-transcription'),
    detailed: transcription('fast-transcription', inDetail),
    address: ofAddress('fast-transcription', { language: 'fr' }),
  },
  differences: [
    {
      of: 'transcript',
      at: 'POST /speechtotext/transcriptions:transcribe: body.definition',
      sdk: null,
      ours: '{}',
      why: 'the documents show the part in every form; the SDK leaves an empty one out',
    },
    {
      of: 'detailed',
      at: 'POST /speechtotext/transcriptions:transcribe: body.definition.diarization.enabled',
      sdk: null,
      ours: 'true',
      why: 'the documents show it; the SDK can only read it, and sends the largest count in its place',
    },
    {
      of: 'detailed',
      at: 'POST /speechtotext/transcriptions:transcribe: body.definition.diarization.maxSpeakers',
      sdk: '4',
      ours: null,
      why: 'the caller says no count; the vendor then finds it out',
    },
  ],
}
