import type { SpeechBilled, SpeechOutput, SpeechReader } from '../../canonical/audio.ts'

const nothing = new Uint8Array(0)

/** The reader of a body that is the sound itself; `billed` is what the response's headers said. */
export function rawSpeech(output: SpeechOutput, billed: SpeechBilled | null = null): SpeechReader {
  return { push: (piece) => piece, end: () => nothing, output, billed }
}

/** A count of characters that a header states, as what was billed; null when it states none. */
export function billedCharacters(stated: string | null): SpeechBilled | null {
  return stated !== null && /^\d{1,12}$/.test(stated) ? { characters: Number(stated) } : null
}

/** What is asked for by these names: MPEG, or the contract's samples. */
export function mpegOr(format: 'mp3' | 'pcm', samples: SpeechOutput): SpeechOutput {
  return format === 'mp3' ? { container: 'mpeg' } : samples
}
