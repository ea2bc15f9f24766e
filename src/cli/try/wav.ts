const sampleRate = 24_000
const headerBytes = 44

/**
 * Samples as the speech endpoint sends them (16-bit little-endian, mono, 24,000 Hz) as a WAV file, which every player and
 * every transcription endpoint reads.
 */
export function toWav(samples: Uint8Array): Uint8Array<ArrayBuffer> {
  const file = new Uint8Array(headerBytes + samples.byteLength)
  const view = new DataView(file.buffer)
  const text = (offset: number, value: string) => file.set(new TextEncoder().encode(value), offset)
  text(0, 'RIFF')
  view.setUint32(4, 36 + samples.byteLength, true)
  text(8, 'WAVEfmt ')
  view.setUint32(16, 16, true)
  view.setUint16(20, 1, true)
  view.setUint16(22, 1, true)
  view.setUint32(24, sampleRate, true)
  view.setUint32(28, sampleRate * 2, true)
  view.setUint16(32, 2, true)
  view.setUint16(34, 16, true)
  text(36, 'data')
  view.setUint32(40, samples.byteLength, true)
  file.set(samples, headerBytes)
  return file
}

/** Seconds of audio in that many bytes of samples. */
export function secondsOf(samples: Uint8Array): number {
  return samples.byteLength / 2 / sampleRate
}
