/** A silent WAV file of this many seconds: 16-bit, mono, 16,000 samples a second. */
export function wave(seconds: number): Uint8Array<ArrayBuffer> {
  const bytes = Math.round(seconds * 16_000) * 2
  const file = Buffer.alloc(44 + bytes)
  file.write('RIFF', 0, 'latin1')
  file.writeUInt32LE(36 + bytes, 4)
  file.write('WAVEfmt ', 8, 'latin1')
  file.writeUInt32LE(16, 16)
  file.writeUInt16LE(1, 20)
  file.writeUInt16LE(1, 22)
  file.writeUInt32LE(16_000, 24)
  file.writeUInt32LE(32_000, 28)
  file.writeUInt16LE(2, 32)
  file.writeUInt16LE(16, 34)
  file.write('data', 36, 'latin1')
  file.writeUInt32LE(bytes, 40)
  return new Uint8Array(file)
}
