import type { BoundedBlob } from './bounded-blob.ts'

/** Seconds of a WAV file from its `fmt ` and `data` chunks, or null. A streamed file's size of 0 or 2^32 - 1 means the rest. */
export async function measureWav(blob: BoundedBlob): Promise<number | null> {
  let bytesPerSecond = 0
  let offset = 12
  for (let chunks = 0; chunks < chunksMax; chunks++) {
    const head = await blob.read(offset, offset + 24)
    if (head.length < 8) return null
    const view = new DataView(head.buffer, head.byteOffset, head.length)
    const id = view.getUint32(0)
    const size = view.getUint32(4, true)
    if (id === fmt && head.length >= 20) bytesPerSecond = view.getUint32(16, true)
    if (id === data) {
      const rest = blob.size - offset - 8
      const isStreamed = size === 0 || size === 0xffff_ffff
      return bytesPerSecond > 0 ? Math.min(isStreamed ? rest : size, rest) / bytesPerSecond : null
    }
    offset += 8 + size + (size % 2)
  }
  return null
}

const fmt = 0x666d7420
const data = 0x64617461
/** Broadcast files carry a handful of chunks before their samples. */
const chunksMax = 64
