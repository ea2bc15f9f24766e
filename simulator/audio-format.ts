/** A container or codec that OpenAI's transcription accepts. */
export type AudioFormat = 'flac' | 'mp3' | 'mp4' | 'ogg' | 'wav' | 'webm'

const formatOfExtension: Record<string, AudioFormat> = {
  flac: 'flac',
  mp3: 'mp3',
  mpeg: 'mp3',
  mpga: 'mp3',
  mp4: 'mp4',
  m4a: 'mp4',
  ogg: 'ogg',
  oga: 'ogg',
  opus: 'ogg',
  wav: 'wav',
  webm: 'webm',
}

/** The bytes per second for estimating a file of unknown length: common settings of each format. */
const usualBytesPerSecond: Record<AudioFormat, number> = {
  flac: 60_000,
  mp3: 16_000,
  mp4: 16_000,
  ogg: 8_000,
  wav: 32_000,
  webm: 8_000,
}

function textAt(bytes: Uint8Array, at: number, length: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1', at, at + length)
}

/** The format that the first bytes of a file show, or null. */
export function formatOfBytes(head: Uint8Array): AudioFormat | null {
  const start = textAt(head, 0, 4)
  if (start === 'RIFF' && textAt(head, 8, 4) === 'WAVE') return 'wav'
  if (start === 'fLaC') return 'flac'
  if (start === 'OggS') return 'ogg'
  if (start.startsWith('ID3')) return 'mp3'
  if (textAt(head, 4, 4) === 'ftyp') return 'mp4'
  const [first = 0, second = 0, third = 0, fourth = 0] = head
  if (first === 0x1a && second === 0x45 && third === 0xdf && fourth === 0xa3) return 'webm'
  return first === 0xff && (second & 0xe0) === 0xe0 ? 'mp3' : null
}

/** The format that a file's name or media type claims, or null. */
export function formatOfName(fileName: string | null, contentType: string | null): AudioFormat | null {
  const extension = /\.([a-z0-9]+)$/i.exec(fileName ?? '')?.[1]?.toLowerCase() ?? ''
  const subtype = /^(?:audio|video)\/(?:x-)?([a-z0-9]+)/i.exec(contentType ?? '')?.[1]?.toLowerCase() ?? ''
  return formatOfExtension[extension] ?? formatOfExtension[subtype === 'wave' ? 'wav' : subtype] ?? null
}

/**
 * Seconds of a WAV file by its header and its true size; null when the file is not a plain WAV. A streamed WAV
 * claims a size of 0 or
 * 0xFFFFFFFF, so the claim counts only when the file is long enough for it.
 */
export function wavSeconds(head: Uint8Array, fileBytes: number): number | null {
  if (formatOfBytes(head) !== 'wav') return null
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength)
  let bytesPerSecond = 0
  for (let at = 12; at + 8 <= head.length;) {
    const size = view.getUint32(at + 4, true)
    const name = textAt(head, at, 4)
    if (name === 'fmt ' && at + 20 <= head.length) bytesPerSecond = view.getUint32(at + 16, true)
    if (name === 'data') {
      const present = fileBytes - at - 8
      const bytes = size === 0 || size > present ? present : size
      return bytesPerSecond > 0 ? bytes / bytesPerSecond : null
    }
    at += 8 + size + (size % 2)
  }
  return null
}

/** The estimated seconds of a file of which only the size is known. */
export function estimatedSeconds(format: AudioFormat, fileBytes: number): number {
  return fileBytes / usualBytesPerSecond[format]
}
