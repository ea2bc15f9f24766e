import { pipeline, Readable, type Duplex } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { toFailure } from './exchange-errors.ts'
import type { BodyRead, UpstreamBody } from './upstream-body.ts'

/** Those that `fetch` unpacks as well; a body of any other encoding is passed on as it is. */
const unpackers: Readonly<Record<string, () => Duplex>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
}

/** What unpacks a body of this `content-encoding`; null when there is nothing to unpack. */
export function unpackerFor(encoding: string | null): (() => Duplex) | null {
  if (encoding === null) return null
  const name = encoding.toLowerCase()
  return Object.hasOwn(unpackers, name) ? (unpackers[name] ?? null) : null
}

/** A body that an upstream has compressed although it was asked not to. It is read only as fast as it is unpacked. */
export class UnpackedBody implements UpstreamBody {
  readonly #body: UpstreamBody
  readonly #unpacker: Duplex
  readonly #pieces: AsyncIterator<Uint8Array>
  #isOver = false

  constructor(body: UpstreamBody, createUnpacker: () => Duplex) {
    this.#body = body
    this.#unpacker = createUnpacker()
    // The iterator below rejects with the error.
    pipeline(Readable.from(piecesOf(body)), this.#unpacker, () => undefined)
    this.#pieces = this.#unpacker[Symbol.asyncIterator]()
  }

  async read(): Promise<BodyRead> {
    if (this.#isOver) return { done: true, value: undefined }
    try {
      const { done, value } = await this.#pieces.next()
      if (done !== true) return { done: false, value }
      this.#isOver = true
      return { done: true, value: undefined }
    } catch (thrown) {
      if (this.#isOver) return { done: true, value: undefined }
      this.cancel()
      throw toFailure(thrown)
    }
  }

  cancel(): void {
    this.#isOver = true
    this.#body.cancel()
    this.#unpacker.destroy()
  }
}

async function* piecesOf(body: UpstreamBody): AsyncGenerator<Uint8Array, void> {
  for (;;) {
    const { done, value } = await body.read()
    if (done) return
    yield value
  }
}
