/** Sample rate of every tone and of OpenAI's `pcm`, in Hz; one channel, 16 bits, little-endian. */
export const pcmSampleRate = 24_000
const bytesPerSample = 2
const toneHz = 440
const amplitude = 8_000
/** How long one character of text sounds at normal speed. */
const secondsPerCharacter = 0.06
const chunksPerSecond = 5

/** Samples of the tone that stands for a text. */
function sampleCount(text: string, speed: number, rate: number): number {
  return Math.round(([...text].length * secondsPerCharacter * rate) / speed)
}

/** The tone that stands for a text, as raw samples, in chunks of a fifth of a second. */
export async function* toneChunks(
  text: string,
  speed: number,
  rate: number = pcmSampleRate,
): AsyncGenerator<Uint8Array> {
  const total = sampleCount(text, speed, rate)
  const chunkSamples = Math.ceil(rate / chunksPerSecond)
  for (let from = 0; from < total; from += chunkSamples) {
    const count = Math.min(chunkSamples, total - from)
    const view = new DataView(new ArrayBuffer(count * bytesPerSample))
    for (let at = 0; at < count; at++) {
      const angle = (2 * Math.PI * toneHz * (from + at)) / rate
      view.setInt16(at * bytesPerSample, Math.round(Math.sin(angle) * amplitude), true)
    }
    yield new Uint8Array(view.buffer)
  }
}

/** The same tone with a WAV header in front. */
export async function* toneWave(text: string, speed: number): AsyncGenerator<Uint8Array> {
  const bytes = sampleCount(text, speed, pcmSampleRate) * bytesPerSample
  const header = Buffer.alloc(44)
  header.write('RIFF', 0)
  header.writeUInt32LE(36 + bytes, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(pcmSampleRate, 24)
  header.writeUInt32LE(pcmSampleRate * bytesPerSample, 28)
  header.writeUInt16LE(bytesPerSample, 32)
  header.writeUInt16LE(bytesPerSample * 8, 34)
  header.write('data', 36)
  header.writeUInt32LE(bytes, 40)
  yield header
  yield* toneChunks(text, speed)
}
