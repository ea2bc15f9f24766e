import { mp3CollectBytes } from '../core/limits/audio.ts'
import { Lame } from './lame.ts'
import type { FromMp3Thread, ToMp3Thread } from './mp3-messages.ts'

declare const self: Worker

const nothing = new Uint8Array(0)
const encoders = new Map<number, number>()
const loading = Bun.file(new URL(import.meta.resolve('wasm-media-encoders/wasm/mp3')))
  .arrayBuffer()
  .then(Lame.load)

// Messages wait for each other, so that they are answered in their order also while the encoder is being loaded.
let last: Promise<unknown> = loading
self.onmessage = ({ data }: MessageEvent<ToMp3Thread>): void => {
  last = last.then(async () => take(await loading, data)).catch((error) => fail(data, error))
}

function take(lame: Lame, message: ToMp3Thread): void {
  const { id } = message
  const encoder = encoders.get(id)
  if (message.kind === 'close') return close(lame, id)
  if (message.kind === 'end') {
    const encoded = encoder === undefined ? nothing : lame.flush(encoder)
    close(lame, id)
    return send({ id, encoded })
  }
  collectNowAndThen(message.samples.length)
  const opened = encoder ?? lame.open()
  encoders.set(id, opened)
  send({ id, encoded: lame.encode(opened, message.samples) })
}

let uncollectedBytes = 0

/** Messages are garbage as soon as they are read, which a runtime left alone collects by the hundred megabytes. */
function collectNowAndThen(bytes: number): void {
  uncollectedBytes += bytes
  if (uncollectedBytes < mp3CollectBytes) return
  uncollectedBytes = 0
  Bun.gc(true)
}

function close(lame: Lame, id: number): void {
  const encoder = encoders.get(id)
  if (encoder === undefined) return
  encoders.delete(id)
  lame.close(encoder)
}

function fail({ id, kind }: ToMp3Thread, error: unknown): void {
  if (kind !== 'close') send({ id, failure: String(error) })
}

function send(message: FromMp3Thread): void {
  self.postMessage(message)
}
