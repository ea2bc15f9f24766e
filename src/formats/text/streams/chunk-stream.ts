import type { BodyPiece } from '../../../core/body.ts'
import type { StreamStage } from '../../../canonical/upstream.ts'
import type { GatewayError } from '../../../core/errors.ts'
import { isRecord, parsePlainly } from '../../../json/values.ts'
import { AmazonFrames } from './amazon-frames.ts'
import { WrappedStream } from './stream-passage.ts'
import { toStreamFailure } from './stream-reader.ts'

/** Bedrock puts its own counts into the last event of a model's stream. */
const ownCounts = 'amazon-bedrock-invocationMetrics'

/**
 * A model's own events that come in frames of Amazon, as Bedrock's InvokeModel sends them: each frame has the base64 of one
 * event. The stream inside reads them as server-sent events.
 */
export class ChunkStream extends WrappedStream {
  readonly #frames = new AmazonFrames()
  #broken: GatewayError | null = null

  override get failure(): GatewayError | null {
    return super.failure ?? this.#broken
  }

  override get stage(): StreamStage {
    return this.failure === null ? super.stage : 'failed'
  }

  override push(chunk: Uint8Array): BodyPiece | null {
    if (this.failure !== null) return null
    const events: string[] = []
    try {
      for (const frame of this.#frames.push(chunk)) {
        if (frame.type === 'error') {
          events.push(toEvent('error', JSON.stringify({ type: 'error', error: frame.error })))
          break
        }
        const event = eventIn(frame.json)
        if (event !== null) events.push(event)
      }
    } catch (cause) {
      this.#broken = toStreamFailure(cause)
    }
    return events.length === 0 ? null : super.push(Buffer.from(events.join('')))
  }

  override end(): void {
    if (this.failure === null) super.end()
  }
}

/** Null for a frame without an event; later versions of the service may have others. */
function eventIn(json: string): string | null {
  const wire = parsePlainly(json)
  if (!isRecord(wire) || typeof wire['bytes'] !== 'string') return null
  const data = Buffer.from(wire['bytes'], 'base64').toString('utf8')
  const event = parsePlainly(data)
  if (!isRecord(event)) throw new Error('a frame has no object')
  const type = typeof event['type'] === 'string' ? event['type'] : 'message'
  if (!Object.hasOwn(event, ownCounts)) return toEvent(type, data)
  const { [ownCounts]: _counts, ...rest } = event
  return toEvent(type, JSON.stringify(rest))
}

/** JSON that spans lines would end the event's data. */
function toEvent(type: string, data: string): string {
  return `event: ${type.replaceAll(/[\r\n]/g, '')}\ndata: ${data.replaceAll(/[\r\n]/g, ' ')}\n\n`
}
