/** A piece of a transcript with its place in the sound, in seconds. */
export interface TimedText {
  start: number
  end: number
  text: string
  speaker: string | null
}

const lineCharactersMax = 80
const cueSecondsMax = 6

/** Words gathered into cues: a new one after a pause, a change of speaker, or when the line is full. */
export function toCues(words: readonly TimedText[]): TimedText[] {
  const cues: TimedText[] = []
  for (const word of words) {
    const last = cues.at(-1)
    if (last !== undefined && fits(last, word)) {
      last.text += ` ${word.text.trim()}`
      last.end = word.end
    } else cues.push({ ...word, text: word.text.trim() })
  }
  return cues
}

const pauseSeconds = 0.8

function fits(cue: TimedText, word: TimedText): boolean {
  return (
    cue.speaker === word.speaker &&
    word.start - cue.end < pauseSeconds &&
    word.end - cue.start <= cueSecondsMax &&
    cue.text.length + word.text.length < lineCharactersMax
  )
}

export function toSrt(cues: readonly TimedText[], names: Readonly<Record<string, string>> = {}): string {
  return cues
    .map(
      (cue, index) =>
        `${index + 1}\n${stamp(cue.start, ',')} --> ${stamp(cue.end, ',')}\n${spoken(cue, names)}\n`,
    )
    .join('\n')
}

export function toVtt(cues: readonly TimedText[], names: Readonly<Record<string, string>> = {}): string {
  const lines = cues.map(
    (cue) => `${stamp(cue.start, '.')} --> ${stamp(cue.end, '.')}\n${escaped(spoken(cue, names))}\n`,
  )
  return `WEBVTT\n\n${lines.join('\n')}`
}

function spoken({ text, speaker }: TimedText, names: Readonly<Record<string, string>>): string {
  return speaker === null ? text : `${names[speaker] ?? speaker}: ${text}`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function two(value: number): string {
  return String(value).padStart(2, '0')
}

function stamp(seconds: number, point: string): string {
  const ms = Math.round(seconds * 1000)
  const whole = `${two(Math.floor(ms / 3_600_000))}:${two(Math.floor(ms / 60_000) % 60)}:${two(Math.floor(ms / 1000) % 60)}`
  return `${whole}${point}${String(ms % 1000).padStart(3, '0')}`
}

/** The place of the piece that sounds at a time, or the last one before it; -1 before the first. */
export function pieceAt(pieces: readonly TimedText[], seconds: number): number {
  let low = 0
  let high = pieces.length - 1
  let found = -1
  while (low <= high) {
    const middle = (low + high) >> 1
    if ((pieces[middle]?.start ?? Infinity) <= seconds) {
      found = middle
      low = middle + 1
    } else high = middle - 1
  }
  return found
}
