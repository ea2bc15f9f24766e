import { describe, expect, test } from 'bun:test'
import { defaultPreferences, type TranscriptionCall } from '../../canonical/call.ts'
import { testContext, testEndpoint } from '../../formats/text/testing.ts'
import { jsonAudioTranscription } from './transcription.ts'
import { testSound, testTranscription } from '../../formats/transcription/transcription-testing.ts'
import { remoteAudio } from '../../formats/transcription/transcription-request.ts'

const endpoint = { ...testEndpoint('deepgram/nova-3', 'openrouter'), modality: 'transcription' as const }

function exchangeOf(changes: Partial<TranscriptionCall>) {
  const call = testTranscription(changes)
  const step = jsonAudioTranscription().first({ call, endpoint, context: testContext })
  if (step.type !== 'send') throw new Error('expected a request')
  return step.exchange
}

async function sent(changes: Partial<TranscriptionCall>): Promise<Record<string, unknown>> {
  const { body } = exchangeOf(changes).request
  if (body === null) throw new Error('expected a body')
  if (!('open' in body)) return JSON.parse(body.join(''))
  const bytes = await new Response(body.open()).bytes()
  expect(bytes.length).toBe(body.contentLength)
  return JSON.parse(new TextDecoder().decode(bytes))
}

describe('a transcription in JSON', () => {
  test('has the sound in base64, and nothing of the session', async () => {
    expect(await sent({ audio: testSound('mp3') })).toEqual({
      model: 'deepgram/nova-3',
      input_audio: { format: 'mp3', data: Buffer.from('RIFF and so on').toString('base64') },
    })
  })

  test('carries everything that the contract has', async () => {
    const asked = {
      language: 'de',
      temperature: 0.4,
      responseFormat: 'verbose_json',
      granularities: ['word'],
      diarize: true,
      keyterms: ['head race'],
      preferences: {
        ...defaultPreferences,
        options: { openrouter: { provider: { options: { deepgram: { smart_format: true } } }, model: 'x' } },
      },
    } as const
    expect(await sent(asked)).toMatchObject({
      provider: { options: { deepgram: { smart_format: true } } },
      model: 'deepgram/nova-3',
      language: 'de',
      temperature: 0.4,
      response_format: 'verbose_json',
      timestamp_granularities: ['segment', 'word'],
      diarize: true,
      keyterms: ['head race'],
      input_audio: { format: 'wav' },
    })
    expect(exchangeOf(asked).dropped).toEqual(['provider.options.openrouter.model'])
  })

  test('names an address, and leaves headerless samples as they are', async () => {
    const far = await sent({
      audio: remoteAudio('https://example.com/a.mp3', { field: 'input_audio.url', statedFormat: null }),
    })
    expect(far['input_audio']).toEqual({ url: 'https://example.com/a.mp3', format: 'mp3' })
    expect((await sent({ audio: testSound('pcm') }))['input_audio']).toMatchObject({ format: 'pcm' })
  })

  test('asks for the length of sound that could not be measured', async () => {
    const asked = await sent({ measuredMilliseconds: null })
    expect(asked).toMatchObject({ response_format: 'verbose_json' })
    expect(asked).not.toHaveProperty('timestamp_granularities')
  })

  test('reads the contract’s answer with scores, speakers and entities', () => {
    const answer = {
      text: ' Ana 🎧 in Brest',
      language: 'en',
      language_confidence: 0.98,
      confidence: 0.9,
      duration: 2.5,
      words: [
        {
          word: 'Ana',
          start: 0,
          end: 1,
          confidence: 0.8,
          speaker: 0,
          speaker_label: 'speaker_3',
          type: 'word',
        },
        {
          word: '[laughs]',
          start: 1,
          end: 2,
          speaker: 1,
          speaker_label: 'speaker_0',
          type: 'audio_event',
          channel: 1,
        },
      ],
      entities: [
        { text: 'Ana', type: 'name', start_char: 0, end_char: 3 },
        { text: 'Brest', type: 'place', start_char: 9, end_char: 14 },
      ],
    }
    const reply = { headers: new Headers(), bytes: new TextEncoder().encode(JSON.stringify(answer)) }
    const asked = { call: testTranscription(), endpoint, context: testContext }
    const step = jsonAudioTranscription().next(null, reply, asked)
    if (step.type !== 'answer') throw new Error('expected an answer')
    expect(step.answer).toMatchObject({
      text: 'Ana 🎧 in Brest',
      language: 'en',
      languageConfidence: 0.98,
      confidence: 0.9,
      durationSeconds: 2.5,
      words: [
        { word: 'Ana', start: 0, end: 1, confidence: 0.8, speaker: 0, speaker_label: 'speaker_3' },
        {
          word: '[laughs]',
          start: 1,
          end: 2,
          speaker: 1,
          speaker_label: 'speaker_0',
          type: 'audio_event',
          channel: 1,
        },
      ],
      entities: [
        { text: 'Ana', type: 'name', start_char: 0, end_char: 3 },
        { text: 'Brest', type: 'place', start_char: 9, end_char: 14 },
      ],
    })
  })
})
