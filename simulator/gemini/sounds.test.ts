import { describe, expect, test } from 'bun:test'
import { wave } from '../audio/testing.ts'
import type { JsonObject } from '../json.ts'
import { at, simulatorForTests } from '../testing.ts'

const simulator = simulatorForTests()
const key = { 'x-goog-api-key': 'test-key', authorization: undefined }

const sound = (seconds: number, mimeType = 'audio/wav') => ({
  inlineData: { mimeType, data: Buffer.from(wave(seconds)).toString('base64') },
})

function ask(
  parts: readonly JsonObject[],
  more: { model?: string; config?: JsonObject; fault?: string } = {},
) {
  const { model = 'gemini-2.5-flash', config = {}, fault = 'scripted' } = more
  const body = { contents: [{ role: 'user', parts }], generationConfig: config }
  return simulator.post(`beta/models/${model}:generateContent`, { body, fault, headers: key })
}

const textOf = (wire: JsonObject) => String(at(wire, 'candidates.0.content.parts.0.text'))
const countOf = (wire: JsonObject, modality: string) =>
  (at(wire, 'usageMetadata.promptTokensDetails') as JsonObject[]).find(
    (each) => each['modality'] === modality,
  )?.['tokenCount']

describe('sound', () => {
  test('counts as 32 tokens a second, separately from the text', async () => {
    const { json } = await ask([sound(2.5), { text: 'Say hello' }])
    expect([countOf(json, 'AUDIO'), countOf(json, 'TEXT')]).toEqual([80, 3])
    expect(at(json, 'usageMetadata.promptTokenCount')).toBe(83)
  })

  test('is transcribed when the prompt asks for it, in the form that the prompt asks for', async () => {
    const fault = 'text=the%20tide%20is%20high'
    const plain = await ask([sound(1), { text: 'Transcribe this.' }], { fault })
    expect(textOf(plain.json)).toBe('The tide is high.')
    const properties = { language: { type: 'STRING' }, text: { type: 'STRING' } }
    const config = { responseMimeType: 'application/json', responseSchema: { type: 'OBJECT', properties } }
    const formed = await ask([sound(1), { text: 'Write down what is said.' }], { fault, config })
    expect(JSON.parse(textOf(formed.json))).toEqual({ language: 'en', text: 'The tide is high.' })
  })

  test('has times only for a model that takes the configuration', async () => {
    const config = { audioTranscriptionConfig: { wordTimestamp: true, diarization: true } }
    const fault = 'text=high%20tide'
    const { json } = await ask([sound(2)], { fault, config, model: 'gemini-3-pro-preview' })
    expect(at(json, 'candidates.0.content.parts')).toEqual([
      {
        audioTranscription: {
          text: 'High tide.',
          languageCode: 'en-US',
          speakerLabel: 'spk_1',
          startOffset: '0s',
          endOffset: '2s',
          words: [
            { word: 'High', startOffset: '0s', endOffset: '1s' },
            { word: 'tide.', startOffset: '1s', endOffset: '2s' },
          ],
        },
      },
    ])
    const refused = await ask([sound(2)], { config })
    expect([refused.status, at(refused.json, 'error.status')]).toEqual([400, 'INVALID_ARGUMENT'])
  })

  test('is refused by a model without hearing, and when the bytes are not sound', async () => {
    const deaf = await ask([sound(1), { text: 'Hi' }], { model: 'gemma-3-27b-it' })
    expect([deaf.status, at(deaf.json, 'error.message')]).toEqual([
      400,
      'Audio input modality is not enabled for models/gemma-3-27b-it',
    ])
    const text = {
      inlineData: { mimeType: 'audio/x-nothing', data: Buffer.from('words').toString('base64') },
    }
    const none = await ask([text, { text: 'Transcribe this.' }])
    expect([none.status, at(none.json, 'error.status')]).toEqual([400, 'INVALID_ARGUMENT'])
  })
})
