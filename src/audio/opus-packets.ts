/** The duration of an Opus packet, from its first two bytes (RFC 6716, section 3.1); 0 for the two header packets. */
export function opusMilliseconds(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0
  if (first === 0x4f && bytes[at + 1] === 0x70 && bytes[at + 2] === 0x75 && bytes[at + 3] === 0x73) return 0
  const frame = opusFrameMs(first >> 3)
  const code = first & 3
  if (code === 3) return Math.min(120, frame * ((bytes[at + 1] ?? 0) & 63))
  return code === 0 ? frame : 2 * frame
}

/** Speech has long frames, music short ones, and the configurations between them are hybrids. */
function opusFrameMs(config: number): number {
  if (config < 12) return silkMs[config & 3] ?? 0
  return config < 16 ? 10 << (config & 1) : 2.5 * 2 ** (config & 3)
}

const silkMs: readonly number[] = [10, 20, 40, 60]
