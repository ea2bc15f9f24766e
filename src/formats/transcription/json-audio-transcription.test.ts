import { describe, expect, test } from 'bun:test'
import { defaultPreferences, type TranscriptionCall } from '../../canonical/call.ts'
import { testContext, testEndpoint } from '../chat/chat-testing.ts'
import { jsonAudioTranscription } from './json-audio-transcription.ts'
import { testSound, testTranscription } from './transcription-testing.ts'
import { remoteAudio } from './transcription-request.ts'

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
})
