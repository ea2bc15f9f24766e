import { mp3KilobitRate } from './mp3-info-frame.ts'
import { pcmOutputRate } from '../canonical/audio.ts'

/** Samples that are encoded at once: a quarter of a second, so that a stream needs little memory. */
const mp3SliceSamples = 5_760

/** The exports of `mp3.wasm` in `wasm-media-encoders` 0.7.0: pointers and counts, negative for an error. */
interface LameExports {
  memory: WebAssembly.Memory
  _initialize(): void
  malloc(bytes: number): number
  free(pointer: number): void
  enc_init(parameters: number): number
  enc_get_pcm(encoder: number, samples: number): number
  enc_encode(encoder: number, samples: number): number
  enc_flush(encoder: number): number
  enc_get_out_buf(encoder: number): number
  enc_free(encoder: number): void
}

/** Channels, rate of the input, kilobits a second, quality of a variable rate, rate of the output. */
const parameterBytes = 5 * 4

/** One stream of 16-bit samples. */
interface LameEncoder {
  /** The bytes that these samples complete. */
  push(samples: Uint8Array): Uint8Array
  /** The last bytes, after the last sample. */
  end(): Uint8Array
  close(): void
}

/**
 * LAME in WebAssembly, with any number of encoders in one memory. Synchronous: a minute of speech takes a third of a
 * second, so it runs in its own thread. Throws when memory is exhausted or the samples cannot be encoded.
 */
export class Lame {
  readonly #exports: LameExports

  private constructor(exports: LameExports) {
    this.#exports = exports
  }

  static async load(wasm: ArrayBuffer): Promise<Lame> {
    const imports = {
      wasi_snapshot_preview1: {
        proc_exit: (code: number) => {
          throw new Error(`the encoder ended with ${code}`)
        },
      },
      env: { emscripten_notify_memory_growth: () => undefined },
    }
    const { instance } = await WebAssembly.instantiate(wasm, imports)
    const exports = instance.exports as unknown as LameExports
    exports._initialize()
    return new Lame(exports)
  }

  /** A new encoder for the contract's samples; the caller closes it once. */
  open(): LameEncoder {
    const encoder = this.#create()
    return {
      push: (samples) => this.#encode(encoder, samples),
      end: () => this.#take(encoder, this.#exports.enc_flush(encoder)),
      close: () => this.#exports.enc_free(encoder),
    }
  }

  #create(): number {
    const { malloc, free, enc_init, memory } = this.#exports
    const parameters = requirePointer(malloc(parameterBytes))
    const view = new DataView(memory.buffer, parameters, parameterBytes)
    for (const [index, value] of [1, pcmOutputRate, mp3KilobitRate].entries())
      view.setInt32(index * 4, value, true)
    view.setFloat32(12, -1, true)
    view.setInt32(16, pcmOutputRate, true)
    const encoder = enc_init(parameters)
    free(parameters)
    return requirePointer(encoder)
  }

  #encode(encoder: number, bytes: Uint8Array): Uint8Array {
    const samples = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const count = bytes.byteLength >> 1
    const encoded: Uint8Array[] = []
    for (let from = 0; from < count; from += mp3SliceSamples) {
      const sliceCount = Math.min(mp3SliceSamples, count - from)
      // Read each time, because grown memory has another buffer.
      const channels = requirePointer(this.#exports.enc_get_pcm(encoder, sliceCount))
      const { buffer } = this.#exports.memory
      const place = new DataView(buffer, channels, 4).getUint32(0, true)
      const slice = new Float32Array(buffer, place, sliceCount)
      for (let index = 0; index < sliceCount; index += 1)
        slice[index] = samples.getInt16((from + index) * 2, true) / 32_768
      encoded.push(this.#take(encoder, this.#exports.enc_encode(encoder, sliceCount)))
    }
    return encoded.length === 1 ? (encoded[0] ?? new Uint8Array(0)) : Buffer.concat(encoded)
  }

  #take(encoder: number, length: number): Uint8Array {
    if (length < 0) throw new Error(`the encoder failed with ${length}`)
    const place = this.#exports.enc_get_out_buf(encoder)
    return new Uint8Array(this.#exports.memory.buffer, place, length).slice()
  }
}

function requirePointer(pointer: number): number {
  if (pointer === 0) throw new Error('the encoder has no memory left')
  return pointer
}
