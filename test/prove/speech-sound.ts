/** Rate and height of the simulator's tone, and how long a character of text sounds. */
const toneHz = 440
const amplitude = 8_000
const secondsPerCharacter = 0.06
const rate = 24_000

/** What is wrong with sound, in words; empty when nothing is. */
export type Findings = string[]

/** A program's output for these bytes. */
async function outputOf(command: string[], bytes: Uint8Array): Promise<Uint8Array> {
  const program = Bun.spawn(command, { stdin: bytes, stderr: 'ignore' })
  return new Response(program.stdout).bytes()
}

/** The simulator's tone for so many characters; coded where it is mp3, or was. */
interface Tone {
  format: 'mp3' | 'pcm'
  characters: number
  isCoded: boolean
}

/** What ffprobe and the samples say of an answer that is to be a tone. */
export async function checkTone(bytes: Uint8Array, { format, characters, isCoded }: Tone): Promise<Findings> {
  const seconds = characters * secondsPerCharacter
  const input = format === 'mp3' ? ['-f', 'mp3'] : ['-f', 's16le', '-ar', String(rate), '-ac', '1']
  const probe = [
    'ffprobe',
    '-v',
    'error',
    ...input,
    '-show_streams',
    '-of',
    'json',
    '-count_packets',
    'pipe:0',
  ]
  const [stream] = JSON.parse(Buffer.from(await outputOf(probe, bytes)).toString()).streams ?? []
  const decode = ['ffmpeg', '-v', 'error', ...input, '-i', 'pipe:0', '-ar', String(rate), '-ac', '1']
  const decoded = Buffer.from(await outputOf([...decode, '-f', 's16le', 'pipe:1'], bytes))
  const samples = new Int16Array(
    decoded.buffer.slice(decoded.byteOffset, decoded.byteOffset + decoded.length),
  )
  const findings: Findings = []
  if (stream?.codec_name !== (format === 'mp3' ? 'mp3' : 'pcm_s16le'))
    findings.push(`codec ${stream?.codec_name}`)
  if (stream?.channels !== 1) findings.push(`${stream?.channels} channels`)
  if (format === 'pcm' && Number(stream?.sample_rate) !== rate) findings.push(`rate ${stream?.sample_rate}`)
  const heard = samples.length / rate
  // An encoder is late by some frames at both ends.
  if (Math.abs(heard - seconds) > (isCoded ? 0.15 : 0.001)) findings.push(`${heard} s for ${seconds} s`)
  return [...findings, ...findClicks(samples, isCoded)]
}

/** Samples of one tone follow from the two before them; what does not is a click, or another sound. */
function findClicks(samples: Int16Array, isCoded: boolean): Findings {
  const next = 2 * Math.cos((2 * Math.PI * toneHz) / rate)
  // The ends fade in and out by the codec's windows and the resampler's.
  const edge = isCoded ? 4_000 : 200
  const tolerance = isCoded ? 500 : 8
  let farthest = 0
  let power = 0
  for (let at = edge; at < samples.length - edge; at += 1) {
    const expected = next * (samples[at - 1] ?? 0) - (samples[at - 2] ?? 0)
    farthest = Math.max(farthest, Math.abs((samples[at] ?? 0) - expected))
    power += (samples[at] ?? 0) ** 2
  }
  const level = Math.sqrt(power / Math.max(1, samples.length - 2 * edge))
  const findings: Findings = []
  // LAME itself takes a twentieth off at some rates.
  if (farthest > tolerance) findings.push(`a sample is ${Math.round(farthest)} away from its tone`)
  if (Math.abs(level / (amplitude / Math.SQRT2) - 1) > 0.1) findings.push(`level ${Math.round(level)}`)
  return findings
}
