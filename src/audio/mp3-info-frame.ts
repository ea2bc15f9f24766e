/** The kilobits per second of encoded speech: one voice is as good as its source at this rate. */
export const mp3KilobitRate = 96

/** Bytes of a frame at that rate and 24,000 Hz. */
export const mp3FrameBytes = 288

/** The delay of such an encoder in samples, before the decoder adds its own. */
const encoderDelay = 576

/** The place of the tag in a frame of one channel of MPEG 2: after the header and the side information. */
const tagOffset = 4 + 9

/**
 * A silent frame before the others. Like LAME's frame in files, it states how many samples the encoder added in front,
 * so that a player begins with the source's first sample. It states no length, which is not known yet.
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
