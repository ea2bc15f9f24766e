import type { SpeechBilled, SpeechOutput, SpeechReader } from '../../canonical/audio.ts'

const nothing = new Uint8Array(0)

/** Reads a body that is the sound itself; `billed` comes from the response's headers. */
export function rawSpeech(output: SpeechOutput, billed: SpeechBilled | null = null): SpeechReader {
  return { push: (piece) => piece, end: () => nothing, output, billed }
}

/** The number of billed characters from a header; null when the header has none. */
export function billedCharacters(stated: string | null): SpeechBilled | null {
  return stated !== null && /^\d{1,12}$/.test(stated) ? { characters: Number(stated) } : null
}

/** The sound behind a format's name: MPEG for mp3, the contract's samples for pcm. */
export function mpegOr(format: 'mp3' | 'pcm', samples: SpeechOutput): SpeechOutput {
  return format === 'mp3' ? { container: 'mpeg' } : samples
}
