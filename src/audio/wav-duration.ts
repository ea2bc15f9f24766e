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
 * Computes the length from the values that decoders use: the rate, the channels, and the width of samples or the size of
 * blocks. No decoder reads the stated byte rate. A caller who pays by the second could state any, and encoders of ADPCM
 * state wrong ones. For other codings nothing else is known; there the stated byte rate counts, up to that of 16-bit
 * samples.
 */
function byteRateOf(view: DataView): number {
  const coding = view.getUint16(8, true)
  const channels = view.getUint16(10, true)
  const rate = view.getUint32(12, true)
  const block = view.getUint16(20, true)
  if (sampleFormats.has(coding)) return channels * rate * Math.ceil(view.getUint16(22, true) / 8)
  const head = adpcmHeads[coding]
  if (head === undefined) return Math.min(view.getUint32(16, true), channels * rate * 2)
  // Two samples of one channel in every byte, and some more in the head of a block.
  const samples = ((block - head.bytes * channels) * 2) / channels + head.samples
  return samples > 0 ? (rate * block) / samples : 0
}

/** Bytes of a block's head for each channel, and the samples in it: Microsoft's ADPCM, and IMA's. */
const adpcmHeads: Readonly<Record<number, { bytes: number; samples: number }>> = {
  2: { bytes: 7, samples: 2 },
  0x11: { bytes: 4, samples: 1 },
}

/** Whole numbers, floats, A-law, µ-law, and samples whose kind is told further on. */
const sampleFormats: ReadonlySet<number> = new Set([1, 3, 6, 7, 0xfffe])

const fmt = 0x666d7420
const data = 0x64617461
/** Broadcast files carry a handful of chunks before their samples. */
const chunksMax = 64
