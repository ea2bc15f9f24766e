/** Kilobits a second of the sound that is encoded here: speech of one voice is as good as its source at that. */
export const mp3KilobitRate = 96

/** Bytes of a frame at that rate and 24,000 Hz. */
export const mp3FrameBytes = 288

/** Samples by which an encoder of this kind is late before its decoder adds its own. */
const encoderDelay = 576

/** Where the tag stands in a frame of one channel of MPEG 2: behind the header and the side information. */
const tagOffset = 4 + 9

/**
 * A silent frame before the others that states how many samples the encoder has added in front, as LAME writes one into
 * files, so that a player begins with the first sample of the source. It states no length, which is not known yet.
 */
export function mp3InfoFrame(): Uint8Array {
  const frame = Buffer.alloc(mp3FrameBytes)
  // MPEG 2 layer III without checksum, 96 kbit/s, 24,000 Hz, one channel.
  frame.writeUInt32BE(0xff_f3_a4_c0, 0)
  frame.write('Info', tagOffset, 'latin1')
  const lame = tagOffset + 8
  frame.write('LAME3.100', lame, 'latin1')
  // A constant rate, by the first revision of the tag.
  frame.writeUInt8(1, lame + 9)
  frame.writeUInt8(mp3KilobitRate, lame + 20)
  frame.writeUIntBE(encoderDelay * 4_096, lame + 21, 3)
  return frame
}
