/** The format that the first bytes show (`wav`, `mp3`, `flac`, `ogg`, `m4a`, `webm`, `aac`), or null when they show none. */
export function sniffFormat(head: Uint8Array): string | null {
  if (startsWith(head, 0, 'RIFF') || startsWith(head, 0, 'RF64'))
    return startsWith(head, 8, 'WAVE') ? 'wav' : null
  if (startsWith(head, 0, 'fLaC')) return 'flac'
  if (startsWith(head, 0, 'OggS')) return 'ogg'
  if (startsWith(head, 4, 'ftyp')) return 'm4a'
  if (startsWith(head, 0, '\x1a\x45\xdf\xa3')) return 'webm'
  if (startsWith(head, 0, 'ID3')) return 'mp3'
  return sniffFrameSync(head)
}

/** MPEG audio and ADTS share a sync word; the two layer bits are zero in ADTS only. */
function sniffFrameSync(head: Uint8Array): string | null {
  const second = head[1] ?? 0
  if (head[0] !== 0xff) return null
  if ((second & 0xf6) === 0xf0) return 'aac'
  const isMpeg = (second & 0xe0) === 0xe0 && (second & 0x18) !== 0x08 && (second & 0x06) !== 0
  const third = head[2] ?? 0xff
  return isMpeg && (third & 0xf0) !== 0xf0 && (third & 0x0c) !== 0x0c ? 'mp3' : null
}

function startsWith(head: Uint8Array, offset: number, text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    if (head[offset + index] !== text.charCodeAt(index)) return false
  }
  return true
}
