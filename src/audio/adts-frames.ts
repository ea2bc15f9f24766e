import type { SoundFrame } from './mpeg-frames.ts'

/** Rates of AAC by their index in ADTS headers and in MP4 files. */
export const aacRates: readonly number[] = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
]

/** The samples of a block, at the stated rate; spectral replication doubles both. */
export const aacBlockSamples = 1_024

/** The ADTS frame of AAC whose header lies at `at`, or null when there is no valid header. */
export function readAdtsFrame(bytes: Uint8Array, at: number): SoundFrame | null {
  if (bytes[at] !== 0xff || ((bytes[at + 1] ?? 0) & 0xf6) !== 0xf0 || at + adtsHeadBytes > bytes.length)
    return null
  const [third = 0, fourth = 0, fifth = 0, sixth = 0, seventh = 0] = bytes.subarray(at + 2, at + 7)
  const rate = aacRates[(third >> 2) & 15]
  const length = ((fourth & 3) << 11) | (fifth << 3) | (sixth >> 5)
  if (rate === undefined || length <= adtsHeadBytes) return null
  const blocks = (seventh & 3) + 1
  return { bytes: length, milliseconds: (blocks * aacBlockSamples * 1000) / rate, kind: third & 0x3c }
}

const adtsHeadBytes = 7
