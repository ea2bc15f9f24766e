import { proveUploads } from '../audio-uploads.ts'
import { combine, type Proof } from '../proof.ts'
import { proveSpeech } from '../speech-figures.ts'

export const proof: Proof = {
  title: 'figures of audio, beside their bounds',
  run: async () => combine([await proveUploads(), await proveSpeech()]),
}
