import { mp3Tone } from './mp3.ts'
import { type Programs, type RunningProgram, startProgram } from './programs.ts'
import { pcmSampleRate, toneChunks, toneWave } from './tone.ts'

export const speechFormats = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const
export type SpeechFormat = (typeof speechFormats)[number]

/** The text to speak, and how. */
export interface Utterance {
  text: string
  voice: string
  speed: number
  format: SpeechFormat
}

/** Audio in production, and its engine. */
export interface Speech {
  engine: 'espeak-ng' | 'tone'
  audio: AsyncGenerator<Uint8Array>
}

/** A synthesizer's voice for each of OpenAI's voices, so that they sound different. */
const espeakVoices: Record<string, string> = {
  alloy: 'en-us',
  ash: 'en-us+m1',
  ballad: 'en-gb+m2',
  cedar: 'en-us+m5',
  coral: 'en-us+f2',
  echo: 'en-us+m3',
  fable: 'en-gb+m4',
  marin: 'en-us+f5',
  nova: 'en-us+f3',
  onyx: 'en-us+m7',
  sage: 'en-us+f4',
  shimmer: 'en-us+f1',
  verse: 'en-us+m6',
}

/** The voices that OpenAI documents. */
export const voices: readonly string[] = Object.keys(espeakVoices)

const ffmpegOutput: Record<Exclude<SpeechFormat, 'pcm'>, string[]> = {
  mp3: ['-ar', '24000', '-b:a', '48k', '-f', 'mp3'],
  opus: ['-c:a', 'libopus', '-f', 'ogg'],
  aac: ['-f', 'adts'],
  flac: ['-ar', '24000', '-f', 'flac'],
  wav: ['-ar', '24000', '-f', 'wav'],
}
const soxOutput: Partial<Record<SpeechFormat, string[]>> = {
  mp3: ['-r', '24000', '-t', 'mp3', '-'],
  flac: ['-r', '24000', '-t', 'flac', '-'],
  wav: ['-r', '24000', '-t', 'wav', '-'],
}

/** The target of a WAV's conversion; samples have their own rate. */
interface Conversion {
  format: SpeechFormat
  speed: number
  rate?: number
}

/** The command that turns a WAV on its input into the format at the speed, or null when nothing installed can. */
function converter(programs: Programs, { format, speed, rate = pcmSampleRate }: Conversion): string[] | null {
  if (programs.ffmpeg !== null) {
    // One tempo filter can at most halve the speed.
    const tempo = speed < 0.5 ? `atempo=0.5,atempo=${speed / 0.5}` : `atempo=${speed}`
    const options = [
      '-v',
      'error',
      '-f',
      'wav',
      '-i',
      'pipe:0',
      '-filter:a',
      tempo,
      ...ffmpegOptions(format, rate),
    ]
    return [programs.ffmpeg, ...options, 'pipe:1']
  }
  const output = format === 'pcm' ? soxSamples(rate) : soxOutput[format]
  if (programs.sox === null || output === undefined) return null
  return [programs.sox, '-t', 'wav', '--ignore-length', '-', ...output, 'tempo', String(speed)]
}

function ffmpegOptions(format: SpeechFormat, rate: number): string[] {
  return format === 'pcm' ? ['-ar', String(rate), '-ac', '1', '-f', 's16le'] : ffmpegOutput[format]
}

function soxSamples(rate: number): string[] {
  return ['-r', String(rate), '-c', '1', '-b', '16', '-e', 'signed-integer', '-t', 'raw', '-']
}

/** Real speech, or null when the programs for it are not installed. `rate` is that of `pcm`. */
export function spoken(
  utterance: Utterance & { rate?: number },
  programs: Programs,
  signal: AbortSignal,
): Speech | null {
  const convert = converter(programs, utterance)
  if (programs.espeak === null || convert === null) return null
  const voice = espeakVoices[utterance.voice] ?? 'en-us'
  const say = [programs.espeak, '-v', voice, '--stdin', '--stdout']
  return {
    engine: 'espeak-ng',
    audio: piped({ say, convert, programs, signal }, Buffer.from(utterance.text)),
  }
}

/** A tone as long as the text would take, or null when it needs an encoder that is not installed. */
export function tone(utterance: Utterance, programs: Programs, signal: AbortSignal): Speech | null {
  const { text, speed, format } = utterance
  if (format === 'pcm') return { engine: 'tone', audio: toneChunks(text, speed) }
  if (format === 'wav') return { engine: 'tone', audio: toneWave(text, speed) }
  if (format === 'mp3') return { engine: 'tone', audio: mp3Tone(text, speed) }
  const convert = converter(programs, { format, speed: 1 })
  if (convert === null) return null
  return { engine: 'tone', audio: piped({ say: null, convert, programs, signal }, toneStream(text, speed)) }
}

function toneStream(text: string, speed: number): ReadableStream<Uint8Array> {
  const chunks = toneWave(text, speed)
  return new ReadableStream({
    async pull(controller) {
      const next = await chunks.next()
      if (next.done === true) controller.close()
      else controller.enqueue(next.value)
    },
  })
}

interface Pipeline {
  say: string[] | null
  convert: string[]
  programs: Programs
  signal: AbortSignal
}

/** Runs the programs and yields the output of the last one. Yields nothing when too many programs run. */
async function* piped(
  { say, convert, programs, signal }: Pipeline,
  input: Uint8Array | ReadableStream<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  if (!(await programs.slots.enter(signal))) return
  const running: RunningProgram[] = []
  try {
    if (say !== null) running.push(startProgram(say, input, signal))
    const encoder = startProgram(convert, running[0]?.output ?? input, signal)
    running.push(encoder)
    for await (const chunk of encoder.output) yield chunk
  } finally {
    for (const program of running) program.kill()
    programs.slots.leave()
  }
}
