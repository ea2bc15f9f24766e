import type { UploadedFile } from './multipart.ts'
import { outputOf, type Programs } from './programs.ts'

/** One recognised word, in seconds from the beginning of the audio. */
export interface SpokenWord {
  word: string
  start: number
  end: number
}

/** What was heard: words in order, grouped as they were spoken together. */
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

/** Programs read files; where no temporary file can be written, as on a read-only root, there is nothing for them. */
async function pathOrNull(file: UploadedFile): Promise<string | null> {
  return file.path().catch(() => null)
}

/** Recognises real speech; null when it cannot: nothing installed, all places taken, or a program failed. */
export async function recognise(
  file: UploadedFile,
  programs: Programs,
  signal: AbortSignal,
): Promise<Recognition | null> {
  const { recogniser, ffmpeg, sox } = programs
  if (recogniser === null || (ffmpeg === null && sox === null)) return null
  if (!(await programs.slots.enter(signal))) return null
  try {
    const path = await pathOrNull(file)
    if (path === null) return null
    const wave = `${path}.16k.wav`
    const convert =
      ffmpeg === null
        ? [String(sox), path, '-r', '16000', '-c', '1', '-b', '16', wave]
        : [
            ffmpeg,
            '-v',
            'error',
            '-y',
            '-i',
            `file:${path}`,
            '-ar',
            '16000',
            '-ac',
            '1',
            '-f',
            'wav',
            `file:${wave}`,
          ]
    if ((await outputOf(convert, signal)) === null) return null
    const output = await outputOf([recogniser, '-infile', wave, '-time', 'yes'], signal)
    return output === null ? null : { engine: 'pocketsphinx', utterances: parseWords(output) }
  } finally {
    programs.slots.leave()
  }
}

/** The recogniser prints a line of text for each utterance and then its words: name, start, end, confidence. */
function parseWords(output: string): SpokenWord[][] {
  const utterances: SpokenWord[][] = []
  for (const line of output.split('\n')) {
    const found = /^(\S+) (\d+\.\d+) (\d+\.\d+) \d+\.\d+$/.exec(line)
    if (found === null) continue
    const [, name = '', start = '', end = ''] = found
    if (name === '<s>') utterances.push([])
    // Silence, noise and sentence marks are not words; "to(2)" is another pronunciation of "to".
    if (/^[<[+]/.test(name)) continue
    utterances.at(-1)?.push({ word: name.replace(/\(\d+\)$/, ''), start: Number(start), end: Number(end) })
  }
  return utterances.filter((words) => words.length > 0)
}

const utteranceWords = 8

function rounded(seconds: number): number {
  return Math.round(seconds * 100) / 100
}

/** A given text as if it had been heard, its words spread evenly over the audio. */
export function scriptedRecognition(text: string, seconds: number): Recognition {
  const words = text.split(/\s+/).filter((word) => word !== '')
  const step = seconds / Math.max(1, words.length)
  const spoken = words.map((word, at) => ({ word, start: rounded(at * step), end: rounded((at + 1) * step) }))
  const utterances: SpokenWord[][] = []
  for (let at = 0; at < spoken.length; at += utteranceWords)
    utterances.push(spoken.slice(at, at + utteranceWords))
  return { engine: 'scripted', utterances }
}

/** The text when nothing can be recognised: it says so, and how long the audio was. */
export function scriptedText(seconds: number): string {
  return `This is a scripted transcription of ${seconds.toFixed(1)} seconds of audio, made without listening to it.`
}
