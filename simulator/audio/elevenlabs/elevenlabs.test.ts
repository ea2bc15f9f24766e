import { describe, expect, test } from 'bun:test'
import { at, readAnswer, simulatorForTests } from '../../testing.ts'
import { wave } from '../testing.ts'

const simulator = simulatorForTests()

interface Sent {
  text?: string
  key?: string
  file?: Uint8Array<ArrayBuffer> | null
}

async function transcribe(
  fields: readonly (readonly [string, string])[],
  { text = 'one two', key = 'key', file = wave(2) }: Sent = {},
) {
  const form = new FormData()
  form.append('model_id', 'scribe_v2')
  for (const [name, value] of fields) form.append(name, value)
  if (file !== null) form.append('file', new File([file], 'a.wav', { type: 'audio/wav' }))
  const headers = { 'xi-api-key': key, 'x-simulator-fault': `text=${encodeURIComponent(text)}` }
  const url = `${simulator.url('audio')}/elevenlabs/v1/speech-to-text`
  return readAnswer(await fetch(url, { method: 'POST', body: form, headers }))
}

describe('ElevenLabs', () => {
  test('lists the spaces between words as entries of their own', async () => {
    const { json, headers } = await transcribe([['diarize', 'true']])
    expect(json).toMatchObject({ language_code: 'eng', text: 'One two.', audio_duration_secs: 2 })
    const words = at(json, 'words') as { text: string; type: string; speaker_id: string; logprob: number }[]
    expect(words.map(({ text, type, speaker_id: speaker }) => [text, type, speaker])).toEqual([
      ['One', 'word', 'speaker_0'],
      [' ', 'spacing', 'speaker_0'],
      ['two.', 'word', 'speaker_0'],
    ])
    expect(words[0]?.logprob).toBeCloseTo(Math.log(0.97))
    expect(headers.get('maximum-concurrent-requests')).toBe('10')
  })

  test('finds entities, and gives each channel its own words', async () => {
    const { json } = await transcribe([['entity_detection', 'all']], { text: 'we met Anna in New York' })
    expect(at(json, 'entities')).toEqual([
      { text: 'Anna', entity_type: 'name', start_char: 7, end_char: 11 },
      { text: 'New York', entity_type: 'location', start_char: 15, end_char: 23 },
    ])
    const several = await transcribe([['use_multi_channel', 'true']])
    expect(at(several.json, 'transcripts.1')).toMatchObject({ text: '', channel_index: 1 })
  })

  test.each<[string, [string, string][], number]>([
    ['a term of fifty characters', [['keyterms', 'x'.repeat(50)]], 400],
    ['a term of six words', [['keyterms', 'a b c d e f']], 400],
    ['a bracket', [['keyterms', 'a[b']], 400],
    ['a temperature of three', [['temperature', '3']], 422],
    ['a file and an address', [['source_url', 'http://127.0.0.1:9/a.wav']], 400],
    ['a switch that is none', [['diarize', 'yes']], 422],
  ])('refuses %s', async (_, fields, status) => {
    expect((await transcribe(fields)).status).toBe(status)
  })

  test('refuses a bad key, a missing file, and audio that is too short', async () => {
    expect(at((await transcribe([], { key: 'bad-key' })).json, 'detail.status')).toBe('invalid_api_key')
    expect((await transcribe([], { file: null })).status).toBe(400)
    expect(at((await transcribe([], { file: wave(0.05) })).json, 'detail.status')).toBe('audio_too_short')
  })
})
