/** Samples as the API streams them: 16-bit little-endian, mono. */

const bytesPerSample = 2

/** Cuts a stream of bytes into samples; a byte that stands alone at the end of a piece waits for the next piece. */
export class SampleReader {
  #waiting: number | null = null

  read(bytes: Uint8Array): Float32Array<ArrayBuffer> {
    const joined = this.#waiting === null ? bytes : concat([Uint8Array.of(this.#waiting), bytes])
    const count = Math.floor(joined.length / bytesPerSample)
    this.#waiting = joined.length % bytesPerSample === 1 ? (joined[joined.length - 1] ?? null) : null
    const view = new DataView(joined.buffer, joined.byteOffset, joined.byteLength)
    const samples = new Float32Array(count)
    for (let index = 0; index < count; index += 1)
      samples[index] = view.getInt16(index * bytesPerSample, true) / 32_768
    return samples
  }
}

export function concat(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}

const headerBytes = 44

/** The bytes as a WAV file. */
export function wavFile(pieces: readonly Uint8Array[], rate: number): Blob {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const header = new DataView(new ArrayBuffer(headerBytes))
  const text = (at: number, word: string) =>
    [...word].forEach((letter, index) => header.setUint8(at + index, letter.charCodeAt(0)))
  text(0, 'RIFF')
  header.setUint32(4, headerBytes - 8 + length, true)
  text(8, 'WAVEfmt ')
  header.setUint32(16, 16, true)
  header.setUint16(20, 1, true)
  header.setUint16(22, 1, true)
  header.setUint32(24, rate, true)
  header.setUint32(28, rate * bytesPerSample, true)
  header.setUint16(32, bytesPerSample, true)
  header.setUint16(34, 8 * bytesPerSample, true)
  text(36, 'data')
  header.setUint32(40, length, true)
  return new Blob([header, ...(pieces as Uint8Array<ArrayBuffer>[])], { type: 'audio/wav' })
}

/** The rate that a content type names: `audio/pcm;rate=24000;channels=1`. */
export function rateOf(contentType: string | null): number {
  const match = /rate=(\d+)/.exec(contentType ?? '')
  return match === null ? 24_000 : Number(match[1])
}

/** The loudest sample of each of `count` equal spans, for a drawing. */
export function peaksOf(samples: Float32Array, count: number): number[] {
  const span = Math.max(1, Math.ceil(samples.length / count))
  const peaks: number[] = []
  for (let start = 0; start < samples.length; start += span) {
    let peak = 0
    const end = Math.min(start + span, samples.length)
    for (let index = start; index < end; index += 1) peak = Math.max(peak, Math.abs(samples[index] ?? 0))
    peaks.push(peak)
  }
  return peaks
}
