import { Lame } from './lame.ts'
import type { FromMp3Thread, Mp3Direction, ToMp3Thread } from './mp3-messages.ts'
import { Mp3ToSamples } from './mp3-to-samples.ts'

/** The bytes that the converting thread receives and sends between two garbage collections: half a second of work. */
const mp3CollectBytes = 4_000_000

declare const self: Worker

/** One stream on its way from one format to the other. */
interface Conversion {
  push(bytes: Uint8Array): Uint8Array
  end(): Uint8Array
  close(): void
}

// The decoder logs every damaged frame, and a provider may send any number of them.
Object.assign(console, { error: () => undefined })

const nothing = new Uint8Array(0)
const conversions = new Map<number, Conversion>()
let lame: Promise<Lame> | null = null

// Messages are handled one after another, so that they are answered in order even while a codec is loading.
let last: Promise<unknown> = Promise.resolve()
self.onmessage = ({ data }: MessageEvent<ToMp3Thread>): void => {
  last = last.then(() => take(data)).catch((error) => fail(data, error))
}

async function take(message: ToMp3Thread): Promise<void> {
  const { id } = message
  if (message.kind === 'close') return close(id)
  if (message.kind === 'end') {
    const converted = conversions.get(id)?.end() ?? nothing
    close(id)
    return send({ id, converted })
  }
  const conversion = conversions.get(id) ?? (await open(message.direction))
  conversions.set(id, conversion)
  const converted = conversion.push(message.bytes)
  send({ id, converted })
  collectNowAndThen(message.bytes.length + converted.length)
}

async function open(direction: Mp3Direction): Promise<Conversion> {
  if (direction === 'decode') return Mp3ToSamples.open()
  lame ??= Bun.file(new URL(import.meta.resolve('wasm-media-encoders/wasm/mp3')))
    .arrayBuffer()
    .then(Lame.load)
  return (await lame).open()
}

let uncollectedBytes = 0

/** Messages become garbage once they are read; by itself the runtime would let hundreds of megabytes pile up. */
function collectNowAndThen(bytes: number): void {
  uncollectedBytes += bytes
  if (uncollectedBytes < mp3CollectBytes) return
  uncollectedBytes = 0
  Bun.gc(true)
}

function close(id: number): void {
  conversions.get(id)?.close()
  conversions.delete(id)
}

function fail({ id, kind }: ToMp3Thread, error: unknown): void {
  if (kind !== 'close') send({ id, failure: String(error) })
}

function send(message: FromMp3Thread): void {
  self.postMessage(message)
}
