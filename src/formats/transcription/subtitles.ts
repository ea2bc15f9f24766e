import type { TranscriptSegment } from '../../canonical/audio.ts'

/** The segments as WebVTT cues. */
export function toWebVtt(segments: readonly TranscriptSegment[]): string {
  const cues = segments.map(
    (segment) =>
      `${toTime(segment.start, '.')} --> ${toTime(segment.end, '.')}\n${voice(segment)}${escapeCue(cueText(segment))}\n`,
  )
  return ['WEBVTT\n', ...cues].join('\n')
}

/** The segments as SubRip cues, numbered from 1. */
export function toSubRip(segments: readonly TranscriptSegment[]): string {
  return segments
    .map((segment, index) => {
      const times = `${toTime(segment.start, ',')} --> ${toTime(segment.end, ',')}`
      const speaker = segment.speaker_label === undefined ? '' : `${oneLine(segment.speaker_label)}: `
      return `${index + 1}\n${times}\n${speaker}${cueText(segment)}\n`
    })
    .join('\n')
}

function voice({ speaker_label: label }: TranscriptSegment): string {
  return label === undefined ? '' : `<v ${escapeCue(oneLine(label))}>`
}

/** An empty line would end a cue, and `-->` would begin the times of another. */
function cueText({ text }: TranscriptSegment): string {
  return oneLine(text).replaceAll('-->', '→')
}

function oneLine(text: string): string {
  return text.replace(/\s*[\r\n]+\s*/g, ' ').trim()
}

function escapeCue(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function toTime(seconds: number, decimal: '.' | ','): string {
  const milliseconds = Math.max(0, Math.round(seconds * 1000))
  const whole = milliseconds / 1000
  return `${part(whole / 3600, 2)}:${part((whole / 60) % 60, 2)}:${part(whole % 60, 2)}${decimal}${part(milliseconds % 1000, 3)}`
}

function part(value: number, digits: number): string {
  return String(Math.floor(value)).padStart(digits, '0')
}
