import { assert } from '../core/assert.ts'

/** The layout of samples in bytes; all little-endian, with interleaved channels. */
export interface SampleLayout {
  encoding: 'u8' | 's16le' | 's24le' | 's32le' | 'f32le'
  rate: number
  channels: number
}

const bytesOf = { u8: 1, s16le: 2, s24le: 3, s32le: 4, f32le: 4 } as const

/** Reads bytes, cut anywhere, as mono samples from -1 to 1; several channels are averaged. */
export class SampleReader {
  readonly #layout: SampleLayout
  readonly #frameBytes: number
  #rest: Uint8Array = new Uint8Array(0)

  constructor(layout: SampleLayout) {
    assert(layout.channels >= 1, 'audio has at least one channel')
    this.#layout = layout
    this.#frameBytes = bytesOf[layout.encoding] * layout.channels
  }

  push(chunk: Uint8Array): Float32Array {
    const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk
    const frames = Math.floor(bytes.length / this.#frameBytes)
    this.#rest = new Uint8Array(bytes.subarray(frames * this.#frameBytes))
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
    const samples = new Float32Array(frames)
    const { encoding, channels } = this.#layout
    const width = bytesOf[encoding]
    for (let frame = 0; frame < frames; frame++) {
      let sum = 0
      for (let channel = 0; channel < channels; channel++) {
        sum += readSample(view, frame * this.#frameBytes + channel * width, encoding)
      }
      samples[frame] = sum / channels
    }
    return samples
  }
}

function readSample(view: DataView, at: number, encoding: SampleLayout['encoding']): number {
  switch (encoding) {
    case 'u8':
      return (view.getUint8(at) - 128) / 128
    case 's16le':
      return view.getInt16(at, true) / 32_768
    case 's24le':
      return ((view.getInt8(at + 2) << 16) | view.getUint16(at, true)) / 8_388_608
    case 's32le':
      return view.getInt32(at, true) / 2_147_483_648
    case 'f32le':
      return view.getFloat32(at, true)
  }
}

/** Samples as 16-bit little-endian bytes, clamped; NaN becomes silence. */
export function toS16(samples: Float32Array): Uint8Array {
  const view = new DataView(new ArrayBuffer(samples.length * 2))
  for (let index = 0; index < samples.length; index++) {
    const sample = samples[index] ?? 0
    const scaled = Number.isNaN(sample) ? 0 : Math.round(sample * 32_768)
    view.setInt16(index * 2, Math.max(-32_768, Math.min(32_767, scaled)), true)
  }
  return new Uint8Array(view.buffer)
}
