import { heardSoundsMax } from './limits.ts'
import { outputOf, type Programs } from './programs.ts'
import type { UploadedFile } from './uploaded-file.ts'

/** One recognised word, in seconds from the beginning of the audio. */
export interface SpokenWord {
  word: string
  start: number
  end: number
  /** How sure the recogniser is, from 0 to 1. */
  confidence: number
}

/** The heard words in order, grouped by utterance. */
export interface Recognition {
  engine: 'pocketsphinx' | 'scripted'
  utterances: SpokenWord[][]
}

/** Seconds of the audio as the probe finds them; null when there is no probe; NaN when the file cannot be decoded. */
export async function probedSeconds(
  file: UploadedFile,
  programs: Programs,
  signal: AbortSignal,
): Promise<number | null> {
  if (programs.ffprobe === null) return null
  const path = await pathOrNull(file)
  if (path === null) return null
  const options = [
    '-v',
    'error',
    '-show_entries',
    'format=duration:stream=codec_type',
    '-of',
    'flat',
    `file:${path}`,
  ]
  const output = await outputOf([programs.ffprobe, ...options], signal)
  if (output === null || !output.includes('"audio"')) return Number.NaN
  const seconds = Number(/format\.duration="([\d.]+)"/.exec(output)?.[1])
  // Recorded streams may be decodable and still not say how long they are.
  return Number.isNaN(seconds) ? null : seconds
}

/** Programs read files. On a read-only file system, where no temporary file can be written, they cannot run. */
async function pathOrNull(file: UploadedFile): Promise<string | null> {
  return file.path().catch(() => null)
}

export interface RecognitionOptions {
  programs: Programs
  signal: AbortSignal
  /** The description of headerless 16-bit samples. */
  samples?: { rate: number; channels: number }
}

/** Recognises real speech; null when it cannot: nothing installed, all places taken, or a program failed. */
export async function recognise(
  file: UploadedFile,
  { programs, signal, samples }: RecognitionOptions,
): Promise<Recognition | null> {
  const { recogniser, ffmpeg, sox } = programs
  if (recogniser === null || (ffmpeg === null && sox === null)) return null
  if (!(await programs.slots.enter(signal))) return null
  try {
    const path = await pathOrNull(file)
    if (path === null) return null
    const wave = `${path}.16k.wav`
    const convert = converter({ ffmpeg, sox, path, wave, samples })
    if ((await outputOf(convert, signal)) === null) return null
    const output = await listenTo(wave, { recogniser, programs, signal })
    return output === null ? null : { engine: 'pocketsphinx', utterances: parseWords(output) }
  } finally {
    programs.slots.leave()
  }
}

/** The recogniser's output for a file of samples. It takes seconds, so the same samples are heard only once. */
async function listenTo(
  wave: string,
  { recogniser, programs, signal }: { recogniser: string; programs: Programs; signal: AbortSignal },
): Promise<string | null> {
  const { heard, recogniserOptions } = programs
  const hash = new Bun.CryptoHasher('sha256').update(await Bun.file(wave).bytes()).digest('base64')
  const known = heard.get(hash)
  if (known !== undefined) return known
  const output = await outputOf([recogniser, '-infile', wave, '-time', 'yes', ...recogniserOptions], signal)
  if (output === null) return null
  if (heard.size >= heardSoundsMax) heard.clear()
  heard.set(hash, output)
  return output
}

interface Conversion {
  ffmpeg: string | null
  sox: string | null
  path: string
  wave: string
  samples: RecognitionOptions['samples']
}

/** The command that converts a file for the recogniser: 16,000 samples a second, mono. */
function converter({ ffmpeg, sox, path, wave, samples }: Conversion): string[] {
  if (ffmpeg === null) {
    const raw = ['-t', 'raw', '-r', String(samples?.rate), '-c', String(samples?.channels), '-b', '16']
    const input = samples === undefined ? [] : [...raw, '-e', 'signed-integer']
    return [String(sox), ...input, path, '-r', '16000', '-c', '1', '-b', '16', wave]
  }
  const input =
    samples === undefined ? [] : ['-f', 's16le', '-ar', String(samples.rate), '-ac', String(samples.channels)]
  const output = ['-ar', '16000', '-ac', '1', '-f', 'wav', `file:${wave}`]
  return [ffmpeg, '-v', 'error', '-y', ...input, '-i', `file:${path}`, ...output]
}

/** The recogniser prints a line of text for each utterance and then its words: name, start, end, confidence. */
function parseWords(output: string): SpokenWord[][] {
  const utterances: SpokenWord[][] = []
  for (const line of output.split('\n')) {
    const found = /^(\S+) (\d+\.\d+) (\d+\.\d+) (\d+\.\d+)$/.exec(line)
    // An utterance begins with its line of text, because the recogniser prints sentence marks only without a
    // grammar.
    if (found === null) utterances.push([])
    const [, name = '', start = '', end = '', sure = ''] = found ?? []
    // Silence, noise and sentence marks are not words; "to(2)" is another pronunciation of "to".
    if (name === '' || /^[<[+]/.test(name)) continue
    const word = name.replace(/\(\d+\)$/, '')
    const confidence = Math.min(1, Number(sure))
    utterances.at(-1)?.push({ word, start: Number(start), end: Number(end), confidence })
  }
  return utterances.filter((words) => words.length > 0)
}

const utteranceWords = 8
const scriptedConfidence = 0.97

function rounded(seconds: number): number {
  return Math.round(seconds * 100) / 100
}

/** A given text as if it had been heard, its words spread evenly over the audio. */
export function scriptedRecognition(text: string, seconds: number): Recognition {
  const words = text.split(/\s+/).filter((word) => word !== '')
  const step = seconds / Math.max(1, words.length)
  const spoken = words.map((word, at) => ({
    word,
    start: rounded(at * step),
    end: rounded((at + 1) * step),
    confidence: scriptedConfidence,
  }))
  const utterances: SpokenWord[][] = []
  for (let at = 0; at < spoken.length; at += utteranceWords)
    utterances.push(spoken.slice(at, at + utteranceWords))
  return { engine: 'scripted', utterances }
}

/** The text when no recogniser can run: it says so, and how long the audio was. */
export function scriptedText(seconds: number): string {
  return `This is a scripted transcription of ${seconds.toFixed(1)} seconds of audio, made without listening to it.`
}
