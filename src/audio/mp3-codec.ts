import { GatewayError } from '../core/errors.ts'
import type { FromMp3Thread, Mp3Direction, ToMp3Thread } from './mp3-messages.ts'

/** The most streams converted from or to mp3 at once; each uses half a megabyte. */
export const mp3ConversionsMax = 512

/** One stream to convert. The caller that opens it closes it. */
export interface Mp3Conversion {
  /** The output that these bytes complete. Await it before the next call, so that nothing piles up. */
  push(bytes: Uint8Array): Promise<Uint8Array>
  /** The last output; push nothing afterwards. */
  end(): Promise<Uint8Array>
  /** Frees the stream's memory. May be called again, never throws. */
  close(): void
}

/** Converts the contract's samples to MPEG layer III, and MPEG audio to such samples, off the event loop. */
export interface Mp3Codec {
  /** Throws `no_healthy_endpoint` when the most streams are being converted already. */
  open(direction: Mp3Direction): Mp3Conversion
  /** Ends the thread; running conversions fail. */
  close(): void
}

/**
 * A codec whose thread starts with its first stream and then stays. `startsAtOnce` is for few descriptors: the runtime
 * ends a process that has no descriptor left for a thread.
 */
export function createMp3Codec({ startsAtOnce = false }: { startsAtOnce?: boolean } = {}): Mp3Codec {
  const codec = new ThreadedCodec()
  if (startsAtOnce) codec.start()
  return codec
}

class ThreadedCodec implements Mp3Codec {
  #worker: Worker | null = null
  #lastId = 0
  readonly #open = new Set<number>()
  readonly #waiting = new Map<number, PromiseWithResolvers<Uint8Array>>()

  open(direction: Mp3Direction): Mp3Conversion {
    if (this.#open.size >= mp3ConversionsMax) {
      throw new GatewayError('no_healthy_endpoint', 'Too much speech is converted now. Try again soon.', {
        retryAfterSeconds: 1,
      })
    }
    const worker = this.start()
    this.#lastId += 1
    const id = this.#lastId
    this.#open.add(id)
    return {
      push: (bytes) => this.#ask(worker, { kind: 'bytes', id, direction, bytes }),
      end: () => this.#ask(worker, { kind: 'end', id }),
      close: () => {
        if (this.#open.delete(id)) worker.postMessage({ kind: 'close', id } satisfies ToMp3Thread)
      },
    }
  }

  close(): void {
    if (this.#worker) this.#abandon(this.#worker, 'the gateway stops')
  }

  start(): Worker {
    return (this.#worker ??= this.#startThread())
  }

  #startThread(): Worker {
    const worker = new Worker(new URL('./mp3-thread.ts', import.meta.url))
    // The thread does not keep an otherwise idle gateway alive.
    worker.unref()
    worker.onmessage = ({ data }: MessageEvent<FromMp3Thread>) => {
      const waiting = this.#waiting.get(data.id)
      this.#waiting.delete(data.id)
      if ('failure' in data) waiting?.reject(failed(data.failure))
      else waiting?.resolve(data.converted)
    }
    worker.onerror = (event) => this.#abandon(worker, event.message)
    worker.addEventListener('close', () => this.#abandon(worker, 'its thread ended'))
    return worker
  }

  #ask(worker: Worker, message: Exclude<ToMp3Thread, { kind: 'close' }>): Promise<Uint8Array> {
    if (!this.#open.has(message.id)) return Promise.reject(failed('the stream was closed'))
    const waiting = Promise.withResolvers<Uint8Array>()
    this.#waiting.set(message.id, waiting)
    worker.postMessage(message)
    return waiting.promise
  }

  /** All running conversions fail; the next stream starts a new thread. */
  #abandon(worker: Worker, reason: string): void {
    if (worker !== this.#worker) return
    this.#worker = null
    this.#open.clear()
    for (const waiting of this.#waiting.values()) waiting.reject(failed(reason))
    this.#waiting.clear()
    worker.terminate()
  }
}

function failed(reason: string): GatewayError {
  return new GatewayError('internal', 'The speech could not be converted.', {
    cause: new Error(`the mp3 codec failed: ${reason}`),
  })
}
