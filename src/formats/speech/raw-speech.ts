import type { SpeechBilled, SpeechOutput, SpeechReader } from '../../canonical/audio.ts'

const nothing = new Uint8Array(0)

/** The reader of a body that is the sound itself; `billed` is what the response's headers said. */
export function rawSpeech(output: SpeechOutput, billed: SpeechBilled | null = null): SpeechReader {
  return { push: (piece) => piece, end: () => nothing, output, billed }
}
