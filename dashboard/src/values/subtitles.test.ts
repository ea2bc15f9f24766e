import { describe, expect, test } from 'bun:test'
import { pieceAt, toCues, toSrt, toVtt, type TimedText } from './subtitles.ts'

const word = (start: number, text: string, speaker: string | null = null): TimedText => ({
  start,
  end: start + 0.3,
  text,
  speaker,
})

describe('subtitles', () => {
  test('words are gathered into cues that end at a pause and at another speaker', () => {
    const cues = toCues([
      word(0, 'good', 'a'),
      word(0.4, 'day', 'a'),
      word(2, 'yes', 'a'),
      word(2.4, 'no', 'b'),
    ])
    expect(cues.map(({ text }) => text)).toEqual(['good day', 'yes', 'no'])
  })

  test('SRT and VTT have their stamps, names, and no markup of the text', () => {
    const cues = [{ start: 3661.5, end: 3662.25, text: 'a < b', speaker: '0' }]
    expect(toSrt(cues, { '0': 'Ann' })).toBe('1\n01:01:01,500 --> 01:01:02,250\nAnn: a < b\n')
    expect(toVtt(cues, { '0': 'Ann' })).toBe('WEBVTT\n\n01:01:01.500 --> 01:01:02.250\nAnn: a &lt; b\n')
  })

  test('the piece that sounds is found, and none before the first', () => {
    const pieces = [word(1, 'a'), word(2, 'b'), word(3, 'c')]
    expect([0, 1, 1.9, 2, 99].map((seconds) => pieceAt(pieces, seconds))).toEqual([-1, 0, 0, 1, 2])
  })
})
