import { GatewayError } from '../core/errors.ts'
import { mp3EncodingsMax } from '../core/limits/audio.ts'
import type { FromMp3Thread, ToMp3Thread } from './mp3-messages.ts'

/** One stream of the contract's samples on its way to MPEG. Whoever opens it closes it. */
export interface Mp3Encoding {
  /** What became whole with these samples. The next call waits for the answer to this one, so that nothing piles up. */
  push(samples: Uint8Array): Promise<Uint8Array>
  /** What was left; nothing may be pushed afterwards. */
  end(): Promise<Uint8Array>
  /** Frees what the stream holds. May be called again, never throws. */
  close(): void
}

/** Encodes MPEG layer III, off the event loop. */
export interface Mp3Encoder {
  /** Throws `no_healthy_endpoint` when as many streams are encoded as may be at once. */
  open(): Mp3Encoding
  /** Ends the thread; streams that still encode fail. */
  close(): void
}

/** An encoder whose thread starts with its first stream and then stays. */
export function createMp3Encoder(): Mp3Encoder {
  return new ThreadedEncoder()
}

class ThreadedEncoder implements Mp3Encoder {
  #worker: Worker | null = null
  #lastId = 0
  readonly #open = new Set<number>()
  readonly #waiting = new Map<number, PromiseWithResolvers<Uint8Array>>()

  open(): Mp3Encoding {
    if (this.#open.size >= mp3EncodingsMax) {
      throw new GatewayError(
        'no_healthy_endpoint',
        'Too much speech is converted to mp3 now. Try again soon.',
        {
          retryAfterSeconds: 1,
        },
      )
    }
    const worker = (this.#worker ??= this.#start())
    this.#lastId += 1
    const id = this.#lastId
    this.#open.add(id)
    return {
      push: (samples) => this.#ask(worker, { kind: 'samples', id, samples }),
      end: () => this.#ask(worker, { kind: 'end', id }),
      close: () => {
        if (this.#open.delete(id)) worker.postMessage({ kind: 'close', id } satisfies ToMp3Thread)
      },
    }
  }

  close(): void {
    if (this.#worker) this.#abandon(this.#worker, 'the gateway stops')
  }

  #start(): Worker {
    const worker = new Worker(new URL('./mp3-thread.ts', import.meta.url))
    // A gateway that has nothing else to do may end.
    worker.unref()
    worker.onmessage = ({ data }: MessageEvent<FromMp3Thread>) => {
      const waiting = this.#waiting.get(data.id)
      this.#waiting.delete(data.id)
      if ('failure' in data) waiting?.reject(failed(data.failure))
      else waiting?.resolve(data.encoded)
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

  /** Whatever encodes fails; the next stream starts another thread. */
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
  return new GatewayError('internal', 'The speech could not be converted to mp3.', {
    cause: new Error(`the mp3 encoder failed: ${reason}`),
  })
}
