import type { TextEvent } from '../../../canonical/text/events.ts'
import { parseExactly } from '../../../json/values.ts'
import { readReportedError, type ReportContext } from '../../upstream-errors.ts'
import type { StreamReader } from '../halves.ts'
import { AmazonFrames } from './amazon-frames.ts'
import { type Emit, EventCollector, type StreamHandler } from './stream-reader.ts'

/**
 * Reads Amazon's binary event stream as objects with one member, named as the event. A wrong checksum, an exception and an
 * error break the stream.
 */
export function createBinaryReader(
  createHandler: (emit: Emit) => StreamHandler,
  context: ReportContext,
): StreamReader {
  return new BinaryReader(createHandler, context)
}

class BinaryReader implements StreamReader {
  readonly #frames = new AmazonFrames()
  readonly #collector: EventCollector
  readonly #context: ReportContext

  constructor(createHandler: (emit: Emit) => StreamHandler, context: ReportContext) {
    this.#collector = new EventCollector(createHandler, parseExactly)
    this.#context = context
  }

  get isTerminated(): boolean {
    return this.#collector.handler.isTerminated
  }

  push(chunk: Uint8Array): readonly TextEvent[] {
    return this.#collector.collect(() => {
      for (const frame of this.#frames.push(chunk)) {
        if (frame.type === 'error') throw readReportedError(frame.error, this.#context)
        this.#collector.read(frame.json, frame.name)
      }
    })
  }

  end(): readonly TextEvent[] {
    return this.#collector.collect(() => {
      if (!this.#collector.handler.isWhole) throw new Error('the body ended before the answer did')
    })
  }
}
