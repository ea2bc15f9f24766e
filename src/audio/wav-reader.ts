import { GatewayError } from '../core/errors.ts'

/** Chunks of a WAV header before its samples. */
const wavHeaderBytesMax = 65_536
import type { SampleLayout } from './samples.ts'

/**
 * Takes the header off a WAV stream. Finds the `fmt ` and `data` chunks wherever they are; a streamed file's data size of
 * 0 or 2^32 - 1 means that all following bytes are data. Throws `provider_failed` for bytes that are no WAV, or whose
 * coding is not supported.
 */
export class WavReader {
  /** Known once the samples begin. */
  layout: SampleLayout | null = null
  #head: Buffer = Buffer.alloc(0)
  #dataLeft = 0

  /** The bytes of samples in this chunk. */
  push(chunk: Uint8Array): Uint8Array {
    if (this.layout !== null) return this.#takeData(chunk)
    this.#head = Buffer.concat([this.#head, chunk])
    const start = this.#parse()
    if (start === null) {
      if (this.#head.length > wavHeaderBytesMax) throw notWav()
      return new Uint8Array(0)
    }
    const data = this.#head.subarray(start)
    this.#head = Buffer.alloc(0)
    return this.#takeData(data)
  }

  #takeData(chunk: Uint8Array): Uint8Array {
    const taken = chunk.subarray(0, Math.min(chunk.length, this.#dataLeft))
    this.#dataLeft -= taken.length
    return taken
  }

  /** Where the samples begin, or null while the header is not whole. */
  #parse(): number | null {
    const head = this.#head
    if (head.length < 12) return null
    if (head.toString('latin1', 0, 4) !== 'RIFF' || head.toString('latin1', 8, 12) !== 'WAVE') throw notWav()
    let layout: SampleLayout | null = null
    for (let at = 12; at + 8 <= head.length;) {
      const id = head.toString('latin1', at, at + 4)
      const size = head.readUInt32LE(at + 4)
      if (id === 'data') {
        if (layout === null) throw notWav()
        this.layout = layout
        this.#dataLeft = size === 0 || size === 0xffff_ffff ? Number.POSITIVE_INFINITY : size
        return at + 8
      }
      if (id === 'fmt ' && at + 8 + Math.max(size, 16) <= head.length)
        layout = readLayout(head.subarray(at + 8), size)
      at += 8 + size + (size % 2)
    }
    return null
  }
}

const encodings: Readonly<Record<string, SampleLayout['encoding']>> = {
  '1/8': 'u8',
  '1/16': 's16le',
  '1/24': 's24le',
  '1/32': 's32le',
  '3/32': 'f32le',
}

function readLayout(chunk: Buffer, size: number): SampleLayout {
  const extensible = 0xfffe
  const stated = chunk.readUInt16LE(0)
  const kind = stated === extensible && size >= 26 ? chunk.readUInt16LE(24) : stated
  const encoding = encodings[`${kind}/${chunk.readUInt16LE(14)}`]
  const channels = chunk.readUInt16LE(2)
  if (encoding === undefined || channels < 1 || channels > 8) throw notWav()
  return { encoding, channels, rate: chunk.readUInt32LE(4) }
}

function notWav(): GatewayError {
  return new GatewayError('provider_failed', 'The provider answered with audio that cannot be read.')
}
