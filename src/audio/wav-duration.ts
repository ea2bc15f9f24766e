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
    if (id === fmt && head.length >= 24) bytesPerSecond = byteRateOf(view)
    if (id === data) {
      const rest = blob.size - offset - 8
      const isStreamed = size === 0 || size === 0xffff_ffff
      return bytesPerSecond > 0 ? Math.min(isStreamed ? rest : size, rest) / bytesPerSecond : null
    }
    offset += 8 + size + (size % 2)
  }
  return null
}

/**
 * Of samples by what decoders go by: rate, channels and width. The stated byte rate is read by none of them, so whoever
 * pays by the second could state any; only compressed formats leave nothing else.
 */
function byteRateOf(view: DataView): number {
  const isSamples = sampleFormats.has(view.getUint16(8, true))
  const channels = view.getUint16(10, true)
  const rate = view.getUint32(12, true)
  const bits = view.getUint16(22, true)
  return isSamples ? channels * rate * Math.ceil(bits / 8) : view.getUint32(16, true)
}

/** Whole numbers, floats, A-law, µ-law, and samples whose kind is told further on. */
const sampleFormats: ReadonlySet<number> = new Set([1, 3, 6, 7, 0xfffe])

const fmt = 0x666d7420
const data = 0x64617461
/** Broadcast files carry a handful of chunks before their samples. */
const chunksMax = 64
