import { describe, expect, test } from 'bun:test'
import type { TranscriptWord } from '../../canonical/audio.ts'
import { toLanguageCode } from './language-names.ts'
import { segmentsOfWords } from './segments-of-words.ts'
import { createSpeakers } from './speakers.ts'
import { durationIn, millisecondsUnit, timesIn } from './transcript-wire.ts'

test('speakers are numbered as they are first heard, whatever they are called', () => {
  const speakerOf = createSpeakers()
  expect(['B', 'A', 'B', 7, '7', null, undefined].map(speakerOf)).toEqual([
    { speaker: 0, speaker_label: 'B' },
    { speaker: 1, speaker_label: 'A' },
    { speaker: 0, speaker_label: 'B' },
    { speaker: 2, speaker_label: '7' },
    { speaker: 2, speaker_label: '7' },
    {},
    {},
  ])
})

test.each([
  ['eng', 'en'],
  ['ENG', 'en'],
  ['ger', 'de'],
  ['deu', 'de'],
  ['cmn', 'zh'],
  ['yue', 'yue'],
  ['en_us', 'en'],
  ['pt-BR', 'pt'],
  ['zh-Hans-CN', 'zh'],
  ['English', 'en'],
  ['norwegian', 'no'],
  // Replaced codes that providers still use.
  ['iw', 'he'],
  ['in', 'id'],
  ['ji', 'yi'],
  ['jw', 'jv'],
  ['mo', 'ro'],
  ['multi lingual', 'multi lingual'],
])('the language %s is %s', (told, code) => {
  expect(toLanguageCode(told)).toBe(code)
})

test('times are in seconds, converted from milliseconds, and wrong times are null', () => {
  expect(timesIn({ start: 1234, end: 2500 }, millisecondsUnit)).toEqual({ start: 1.234, end: 2.5 })
  expect(timesIn({ start: 2, end: 1 })).toBeNull()
  expect(timesIn({ start: -1, end: 1 })).toBeNull()
  expect(timesIn({ start: 0, end: Number.POSITIVE_INFINITY })).toBeNull()
  expect([durationIn('3.5'), durationIn(0), durationIn(100_000), durationIn('x')]).toEqual([
    3.5,
    null,
    null,
    null,
  ])
})

describe('segments of words', () => {
  const said = (text: string, more: Partial<TranscriptWord> = {}): TranscriptWord[] =>
    text.split(' ').map((word, at) => ({ word, start: at, end: at + 0.9, ...more }))

  test('end with a sentence, a silence, a speaker and a channel', () => {
    const words: TranscriptWord[] = [
      { word: 'Hello', start: 0, end: 0.4 },
      { word: 'there.', start: 0.5, end: 0.9 },
      { word: 'We', start: 1, end: 1.2, speaker: 0, speaker_label: 'A' },
      { word: 'wait', start: 2, end: 2.2, speaker: 0, speaker_label: 'A' },
      { word: 'long', start: 3.1, end: 3.3, speaker: 0, speaker_label: 'A' },
      { word: 'yes', start: 3.4, end: 3.6, speaker: 1, speaker_label: 'B' },
      { word: 'no', start: 3.7, end: 3.9, speaker: 1, speaker_label: 'B', channel: 1 },
    ]
    expect(segmentsOfWords(words, 'Hello there. We wait long yes no')).toEqual([
      { id: 0, start: 0, end: 0.9, text: 'Hello there.' },
      { id: 1, start: 1, end: 2.2, text: 'We wait', speaker: 0, speaker_label: 'A' },
      { id: 2, start: 3.1, end: 3.3, text: 'long', speaker: 0, speaker_label: 'A' },
      { id: 3, start: 3.4, end: 3.6, text: 'yes', speaker: 1, speaker_label: 'B' },
      { id: 4, start: 3.7, end: 3.9, text: 'no', speaker: 1, speaker_label: 'B', channel: 1 },
    ])
  })

  test('do not end at a pause of exactly 0.8 s', () => {
    const words = [
      { word: 'one', start: 0, end: 0.2 },
      { word: 'two', start: 1, end: 1.2 },
    ]
    expect(segmentsOfWords(words, 'one two')).toHaveLength(1)
  })

  test('have the text’s own spelling, with punctuation', () => {
    const texts = segmentsOfWords(said('he said stop. then go'), '"He said: stop." Then — go!').map(
      ({ text }) => text,
    )
    expect(texts).toEqual(['"He said: stop."', 'Then — go!'])
  })

  test('put no spaces where the text has none', () => {
    const words = ['今日', 'は', '晴れ', '。', '明日', 'も'].map((word, at) => ({
      word,
      start: at,
      end: at + 0.9,
    }))
    expect(segmentsOfWords(words, '今日は晴れ。明日も').map(({ text }) => text)).toEqual([
      '今日は晴れ。',
      '明日も',
    ])
  })

  test.each(['यह ठीक है। चलो', 'هل تسمع؟ نعم', 'یہ ٹھیک ہے۔ چلو', 'Wait… “Go.” Now'])(
    'end with sentences of any script: %s',
    (text) => {
      expect(segmentsOfWords(said(text), text).length).toBeGreaterThan(1)
    },
  )

  test('end where the provider marks the end of a sentence, if it marks ends', () => {
    const words = said('Dr. Anna left ok bye')
    const ends = new Set(words.slice(3, 4))
    expect(segmentsOfWords(words, 'Dr. Anna left ok bye', ends).map(({ text }) => text)).toEqual([
      'Dr. Anna left ok',
      'bye',
    ])
  })

  test('join the words when the text does not contain them', () => {
    expect(segmentsOfWords(said('eighteen nine'), '18 9').map(({ text }) => text)).toEqual(['eighteen nine'])
  })
})
