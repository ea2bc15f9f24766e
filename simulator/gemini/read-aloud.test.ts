import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../json.ts'
import { at, simulatorForTests } from '../testing.ts'

const simulator = simulatorForTests()
const key = { 'x-goog-api-key': 'test-key', authorization: undefined }
const model = 'gemini-2.5-flash-preview-tts'

interface More {
  config?: JsonObject
  fault?: string
  method?: string
  name?: string
  parts?: JsonObject[]
}

function say(text: string, more: More = {}) {
  const { config = { responseModalities: ['AUDIO'] }, fault = 'tone', method = 'generateContent' } = more
  const body = { contents: [{ role: 'user', parts: more.parts ?? [{ text }] }], generationConfig: config }
  return simulator.post(`beta/models/${more.name ?? model}:${method}`, { body, fault, headers: key })
}

describe('a model that speaks', () => {
  test('answers with samples as base64 and their rate, and counts 25 tokens a second', async () => {
    const { json } = await say('x'.repeat(50))
    expect(at(json, 'candidates.0.finishReason')).toBe('STOP')
    const sound = at(json, 'candidates.0.content.parts.0.inlineData') as { mimeType: string; data: string }
    expect(sound.mimeType).toBe('audio/L16;codec=pcm;rate=24000')
    // Fifty characters are three seconds of a tone.
    expect(Buffer.from(sound.data, 'base64')).toHaveLength(144_000)
    expect(json['usageMetadata']).toMatchObject({
      candidatesTokenCount: 75,
      candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 75 }],
    })
  })

  test('sends the same samples piece by piece, and its end behind them', async () => {
    const { text } = await say('x'.repeat(50), { method: 'streamGenerateContent?alt=sse' })
    const frames = text
      .split('\n\n')
      .filter((each) => each !== '')
      .map((each) => JSON.parse(each.replace(/^data: /, '')) as JsonObject)
    expect(frames.length).toBeGreaterThan(3)
    const sound = frames.map((each) => at(each, 'candidates.0.content.parts.0.inlineData.data'))
    const bytes = sound.flatMap((data) => (typeof data === 'string' ? [Buffer.from(data, 'base64')] : []))
    expect(Buffer.concat(bytes)).toHaveLength(144_000)
    expect(frames.map((each) => at(each, 'candidates.0.finishReason'))).toEqual([
      ...Array.from({ length: frames.length - 1 }, () => undefined),
      'STOP',
    ])
    expect(at(frames.at(-1), 'usageMetadata.candidatesTokenCount')).toBe(75)
  })

  test.each<[string, More, string]>([
    ['words are wanted', { config: {} }, 'response modalities (TEXT)'],
    [
      'there is no such voice',
      {
        config: {
          responseModalities: ['AUDIO'],
          speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Alloy' } } },
        },
      },
      'Voice name Alloy is not supported',
    ],
    [
      'it is sent more than text',
      { parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] },
      'Only text',
    ],
    [
      'the text is too long',
      { parts: [{ text: 'word '.repeat(9_000) }] },
      'exceeds the maximum number of tokens',
    ],
    ['sound is wanted of another model', { name: 'gemini-2.5-flash' }, 'response modalities (AUDIO)'],
  ])('is refused where %s', async (_, more, words) => {
    const { status, json } = await say('Hi', more)
    expect([status, at(json, 'error.status')]).toEqual([400, 'INVALID_ARGUMENT'])
    expect(at(json, 'error.message')).toContain(words)
  })

  test('may answer with a refusal, with text, or with nothing, all with status 200', async () => {
    const blocked = await say('Hi', { fault: 'refusal=No' })
    expect([
      blocked.status,
      at(blocked.json, 'promptFeedback.blockReason'),
      blocked.json['candidates'],
    ]).toEqual([200, 'PROHIBITED_CONTENT', undefined])
    const worded = await say('Hi', { fault: 'text=Hello' })
    expect(at(worded.json, 'candidates.0.content.parts')).toEqual([{ text: 'Hello' }])
    const other = await say('Hi', { fault: 'finish=OTHER' })
    expect(at(other.json, 'candidates.0')).toEqual({
      content: { role: 'model' },
      finishReason: 'OTHER',
      index: 0,
    })
  })
})
