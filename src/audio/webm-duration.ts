import type { BoundedBlob } from './bounded-blob.ts'

const id = {
  segment: 0x18538067,
  info: 0x1549a966,
  timecodeScale: 0x2ad7b1,
  duration: 0x4489,
  cluster: 0x1f43b675,
  timecode: 0xe7,
  blockGroup: 0xa0,
  block: 0xa1,
  simpleBlock: 0xa3,
} as const

const parents: ReadonlySet<number> = new Set([id.segment, id.info, id.cluster, id.blockGroup])

/**
 * Seconds of a WebM file: what its header says, or, where a browser wrote it while it recorded and could not know, the
 * time of its last block. Walks all blocks then, within the bound of the blob.
 */
export async function measureWebm(blob: BoundedBlob): Promise<number | null> {
  let scaleNs = 1_000_000
  let clusterTime = 0
  let last = -1
  for (let offset = 0; offset < blob.size;) {
    const head = await blob.read(offset, offset + 24)
    const element = readElement(head)
    if (element === null) break
    const body = head.subarray(element.headBytes)
    if (element.id === id.timecodeScale) scaleNs = readUnsigned(body, element.size)
    // The duration is in units of the scale, which stands before it; zero is what recorders write for unknown.
    if (element.id === id.duration && readFloat(body, element.size) > 0) {
      return (readFloat(body, element.size) * scaleNs) / 1e9
    }
    if (element.id === id.timecode) clusterTime = readUnsigned(body, element.size)
    if (element.id === id.block || element.id === id.simpleBlock)
      last = Math.max(last, clusterTime + blockTime(body))
    offset += element.headBytes + (parents.has(element.id) ? 0 : element.size)
  }
  return last < 0 ? null : (last * scaleNs) / 1e9
}

function readElement(head: Uint8Array): { id: number; size: number; headBytes: number } | null {
  const idBytes = vintLength(head[0] ?? 0)
  const sizeBytes = vintLength(head[idBytes] ?? 0)
  if (idBytes > 4 || sizeBytes > 8 || head.length < idBytes + sizeBytes) return null
  // The marker bit is taken off first: with it, an eight-byte size would not fit a double.
  const top = (head[idBytes] ?? 0) & (0xff >> sizeBytes)
  const size = top * 256 ** (sizeBytes - 1) + readUnsigned(head.subarray(idBytes + 1), sizeBytes - 1)
  return { id: readUnsigned(head, idBytes), size, headBytes: idBytes + sizeBytes }
}

/** Bytes of a variable-length integer, from the position of its first bit that is set; 9 when there is none. */
function vintLength(first: number): number {
  return Math.clz32(first) - 23
}

function readUnsigned(bytes: Uint8Array, length: number): number {
  let value = 0
  for (const byte of bytes.subarray(0, Math.min(length, 8))) value = value * 256 + byte
  return value
}

function readFloat(bytes: Uint8Array, length: number): number {
  if (bytes.length < length) return 0
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  if (length === 8) return view.getFloat64(0)
  return length === 4 ? view.getFloat32(0) : 0
}

/** A block begins with its track number, one byte for the tracks that recordings have, and a signed 16-bit time. */
function blockTime(body: Uint8Array): number {
  const at = vintLength(body[0] ?? 0)
  return (((body[at] ?? 0) << 24) >> 16) | (body[at + 1] ?? 0)
}
