import { describe, expect, test } from 'bun:test'
import { defaultPreferences, type TranscriptionCall } from '../canonical/call.ts'
import type { Endpoint } from '../canonical/endpoint.ts'
import { leastAudio, traitsOf } from '../catalog/capabilities.ts'
import { GatewayError } from '../core/errors.ts'
import { testContext, testEndpoint } from '../formats/text/testing.ts'
import { testSound, testTranscription } from '../formats/transcription/transcription-testing.ts'
import { remoteAudio } from '../formats/transcription/transcription-request.ts'
import { findPreset, modelRulesOf } from './registry.ts'

function callWith(changes: Partial<TranscriptionCall> = {}): TranscriptionCall {
  return testTranscription({ audio: testSound('mp3'), ...changes })
}

/** A provider's model with the capabilities that its name implies. */
function endpointAt(slug: string, model: string, baseUrl?: string): Endpoint {
  const preset = presetOf(slug)
  const endpoint = testEndpoint(model, slug)
  const told = traitsOf(model, modelRulesOf(preset))
  expect(told.modality).toBe('transcription')
  return {
    ...endpoint,
    modality: 'transcription',
    deployment: { ...endpoint.deployment, baseUrl: baseUrl ?? preset.baseUrl ?? 'http://localhost/v1' },
    audio: { ...leastAudio, ...told.audio, ...preset.audio.transcription },
  }
}

function presetOf(slug: string) {
  const preset = findPreset(slug)
  if (preset === null) throw new Error(`there is no ${slug}`)
  return preset
}

function adapterOf(slug: string) {
  const { transcription } = presetOf(slug).adapters
  if (transcription === undefined) throw new Error(`${slug} does not transcribe`)
  return transcription
}

function sentTo(endpoint: Endpoint, call: TranscriptionCall) {
  const step = adapterOf(endpoint.deployment.preset).first({ call, endpoint, context: testContext })
  if (step.type !== 'send') throw new Error('expected a request')
  return step.exchange
}

/** The fields of the form in order, as the runtime's own parser reads them. */
async function formSent(endpoint: Endpoint, call: TranscriptionCall): Promise<string[]> {
  const { body, headers } = sentTo(endpoint, call).request
  if (body === null || !('open' in body)) throw new Error('expected a streamed body')
  const sent = await new Response(body.open()).bytes()
  const type = headers['content-type'] ?? ''
  const form = await new Response(sent, { headers: { 'content-type': type } }).formData()
  return [...form].map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : `<${value.name} ${value.type}>`}`,
  )
}

const file = 'file=<audio.mp3 audio/mpeg>'
const verbose = { responseFormat: 'verbose_json' } as const
const words = { ...verbose, granularities: ['word'] } as const
const options = (slug: string, members: Record<string, unknown>) => ({
  preferences: { ...defaultPreferences, options: { [slug]: members } },
})

/** Provider, model, request, and the form in the provider's documentation. */
const forms: readonly [slug: string, model: string, asked: Partial<TranscriptionCall>, form: string[]][] = [
  ['openai', 'whisper-1', {}, ['model=whisper-1', 'response_format=json', file]],
  [
    'openai',
    'whisper-1',
    { ...words, language: 'de', temperature: 0.2 },
    [
      'model=whisper-1',
      'language=de',
      'temperature=0.2',
      'response_format=verbose_json',
      'timestamp_granularities[]=segment',
      'timestamp_granularities[]=word',
      file,
    ],
  ],
  // Neither model has times, so only the short answer is requested.
  ['openai', 'gpt-4o-transcribe', verbose, ['model=gpt-4o-transcribe', 'response_format=json', file]],
  [
    'openai',
    'gpt-4o-mini-transcribe',
    { ...verbose, measuredMilliseconds: null },
    ['model=gpt-4o-mini-transcribe', 'response_format=json', file],
  ],
  [
    'openai',
    'gpt-4o-transcribe-diarize',
    verbose,
    ['model=gpt-4o-transcribe-diarize', 'response_format=diarized_json', 'chunking_strategy=auto', file],
  ],
  [
    'openai',
    'gpt-4o-transcribe-diarize',
    options('openai', {
      chunking_strategy: { type: 'server_vad', threshold: 0.6 },
      known_speaker_names: ['Ana', 'Bo'],
    }),
    [
      'model=gpt-4o-transcribe-diarize',
      'response_format=json',
      'chunking_strategy={"type":"server_vad","threshold":0.6}',
      'known_speaker_names[]=Ana',
      'known_speaker_names[]=Bo',
      file,
    ],
  ],
  [
    'openai',
    'gpt-transcribe',
    { ...verbose, keyterms: [' head race ', 'C++, Rust'], ...options('openai', { languages: ['en', 'de'] }) },
    [
      'model=gpt-transcribe',
      'response_format=json',
      'keywords[]=head race',
      'keywords[]=C++, Rust',
      'languages[]=en',
      'languages[]=de',
      file,
    ],
  ],
  [
    'azure',
    'gpt-4o-transcribe-diarize',
    verbose,
    ['model=gpt-4o-transcribe-diarize', 'response_format=diarized_json', 'chunking_strategy=auto', file],
  ],
  [
    'groq',
    'whisper-large-v3',
    { measuredMilliseconds: null, ...options('groq', { prompt: 'Names: Ana' }) },
    ['model=whisper-large-v3', 'response_format=verbose_json', 'prompt=Names: Ana', file],
  ],
  [
    'groq',
    'whisper-large-v3-turbo',
    { audio: remoteAudio('https://example.com/a.mp3', { field: 'input_audio.url', statedFormat: null }) },
    ['model=whisper-large-v3-turbo', 'response_format=json', 'url=https://example.com/a.mp3'],
  ],
  [
    'mistral',
    'voxtral-mini-2602',
    verbose,
    ['model=voxtral-mini-2602', 'timestamp_granularities=segment', 'diarize=true', file],
  ],
  // Only segments have speakers.
  ['mistral', 'voxtral-mini-2602', words, ['model=voxtral-mini-2602', 'timestamp_granularities=word', file]],
  [
    'mistral',
    'voxtral-mini-latest',
    { ...verbose, language: 'fr', keyterms: ['head race', 'Brest'] },
    ['model=voxtral-mini-latest', 'language=fr', 'context_bias=head_race', 'context_bias=Brest', file],
  ],
  [
    'mistral',
    'voxtral-mini-transcribe-3-0',
    { ...verbose, language: 'fr' },
    [
      'model=voxtral-mini-transcribe-3-0',
      'language=fr',
      'timestamp_granularities=segment',
      'diarize=true',
      file,
    ],
  ],
  [
    'mistral',
    'voxtral-small-transcribe-latest',
    { audio: remoteAudio('https://example.com/a.mp3', { field: 'input_audio.url', statedFormat: null }) },
    ['model=voxtral-small-transcribe-latest', 'file_url=https://example.com/a.mp3'],
  ],
  [
    'fireworks',
    'accounts/fireworks/models/whisper-v3',
    { ...verbose, diarize: true },
    [
      'model=whisper-v3',
      'response_format=verbose_json',
      'timestamp_granularities=segment',
      'timestamp_granularities=word',
      'diarize=true',
      file,
    ],
  ],
  [
    'fireworks',
    'whisper-v3-turbo',
    { audio: remoteAudio('https://example.com/a.mp3', { field: 'input_audio.url', statedFormat: null }) },
    ['model=whisper-v3-turbo', 'response_format=json', 'file=https://example.com/a.mp3'],
  ],
  // Without a language it would assume English.
  [
    'together',
    'openai/whisper-large-v3',
    { ...verbose, diarize: true },
    [
      'model=openai/whisper-large-v3',
      'language=auto',
      'response_format=verbose_json',
      'timestamp_granularities[]=segment',
      'timestamp_granularities[]=word',
      'diarize=true',
      file,
    ],
  ],
  [
    'together',
    'openai/whisper-large-v3',
    { language: 'de' },
    ['model=openai/whisper-large-v3', 'language=de', 'response_format=json', file],
  ],
  [
    'xai',
    'grok-stt',
    { ...words, language: 'de', temperature: 0.5, keyterms: ['head race', 'Brest'] },
    ['language=de', 'keyterm=head race', 'keyterm=Brest', file],
  ],
  ['xai', 'grok-stt', { ...verbose, diarize: true }, ['diarize=true', file]],
  ['xai', 'grok-stt', options('xai', { model: 'another' }), ['model=another', file]],
  [
    'deepinfra',
    'openai/whisper-large-v3-turbo',
    words,
    [
      'model=openai/whisper-large-v3-turbo',
      'response_format=verbose_json',
      'timestamp_granularities[]=segment',
      'timestamp_granularities[]=word',
      file,
    ],
  ],
]

describe('a transcription by OpenAI’s form', () => {
  test.each(forms)('is asked of %s for %s as its documents say (%#)', async (slug, model, asked, form) => {
    expect(await formSent(endpointAt(slug, model), callWith(asked))).toEqual(form)
  })

  test('goes in chunks to a model that tells speakers apart, also in the short form', async () => {
    const endpoint = endpointAt('openai', 'gpt-4o-transcribe-diarize')
    expect(await formSent(endpoint, callWith())).toContain('chunking_strategy=auto')
  })

  test('describes headerless samples as a WAV file', async () => {
    const call = callWith({ audio: testSound('pcm') })
    for (const [slug, model] of [
      ['openai', 'whisper-1'],
      ['mistral', 'voxtral-mini-2602'],
    ] as const)
      expect((await formSent(endpointAt(slug, model), call)).at(-1)).toStartWith('file=<audio.wav ')
  })

  test('describes headerless samples in separate fields where the provider has such fields', async () => {
    const call = callWith({ audio: testSound('pcm') })
    const form = await formSent(endpointAt('xai', 'grok-stt'), call)
    expect(form.slice(0, 2)).toEqual(['audio_format=pcm', 'sample_rate=16000'])
    expect(form[2]).toStartWith('file=<audio.pcm ')
  })

  test('lists a temperature that is not accepted', () => {
    const exchange = sentTo(endpointAt('xai', 'grok-stt'), callWith({ temperature: 0 }))
    expect(exchange.dropped).toEqual(['temperature'])
  })

  test('of Voxtral’s second kind has no words beside a language', () => {
    const call = callWith({ ...words, language: 'de' })
    expect(refusalOf(() => sentTo(endpointAt('mistral', 'voxtral-mini-2602'), call))).toMatchObject({
      status: 400,
      param: 'timestamp_granularities',
    })
    const segments = callWith({ ...verbose, language: 'de' })
    expect(sentTo(endpointAt('mistral', 'voxtral-mini-2602'), segments).dropped).toEqual([
      'timestamp_granularities',
    ])
    expect(sentTo(endpointAt('mistral', 'voxtral-mini-transcribe-3-0'), segments).dropped).toEqual([])
  })
})

function refusalOf(act: () => unknown): GatewayError {
  try {
    act()
  } catch (error) {
    if (error instanceof GatewayError) return error
  }
  throw new Error('expected a refusal')
}

describe('the address', () => {
  const audioAt = (slug: string, model: string, baseUrl?: string) => {
    const endpoint = endpointAt(slug, model, baseUrl)
    const { path, inPlaceOf = '' } = sentTo(endpoint, callWith()).request
    const base = endpoint.deployment.baseUrl
    return base.slice(0, base.length - inPlaceOf.length) + path
  }

  test.each([
    ['openai', 'whisper-1', undefined, 'https://api.openai.com/v1/audio/transcriptions'],
    ['groq', 'whisper-large-v3', undefined, 'https://api.groq.com/openai/v1/audio/transcriptions'],
    ['xai', 'grok-stt', undefined, 'https://api.x.ai/v1/stt'],
    ['mistral', 'voxtral-mini-2602', undefined, 'https://api.mistral.ai/v1/audio/transcriptions'],
    ['together', 'openai/whisper-large-v3', undefined, 'https://api.together.ai/v1/audio/transcriptions'],
    [
      'deepinfra',
      'openai/whisper-large-v3',
      undefined,
      'https://api.deepinfra.com/v1/openai/audio/transcriptions',
    ],
    ['fireworks', 'whisper-v3', undefined, 'https://audio-prod.api.fireworks.ai/v1/audio/transcriptions'],
    [
      'fireworks',
      'whisper-v3-turbo',
      undefined,
      'https://audio-turbo.api.fireworks.ai/v1/audio/transcriptions',
    ],
    ['fireworks', 'whisper-v3', 'https://mine.test/v1', 'https://mine.test/v1/audio/transcriptions'],
    ['azure', 'whisper-1', 'https://r.test/openai/v1', 'https://r.test/openai/v1/audio/transcriptions'],
    [
      'azure',
      'my whisper',
      'https://r.test/openai',
      'https://r.test/openai/deployments/my%20whisper/audio/transcriptions',
    ],
    ['azure', 'whisper-1', 'https://r.test/models', 'https://r.test/openai/v1/audio/transcriptions'],
    ['azure', 'whisper-1', 'https://r.test/anthropic', 'https://r.test/openai/v1/audio/transcriptions'],
  ])('of %s for %s at %s is %s', (slug, model, baseUrl, address) => {
    expect(audioAt(slug, model, baseUrl)).toBe(address)
  })
})

/** Reads a documented answer. */
function readFrom(slug: string, model: string, answer: unknown, asked: Partial<TranscriptionCall> = {}) {
  const reply = { headers: new Headers(), bytes: new TextEncoder().encode(JSON.stringify(answer)) }
  const at = { call: callWith(asked), endpoint: endpointAt(slug, model), context: testContext }
  const step = adapterOf(slug).next(null, reply, at)
  if (step.type !== 'answer') throw new Error('expected an answer')
  return step.answer
}

describe('the answer', () => {
  test('of OpenAI’s diarizing model has speakers by segment, and a text without their names', () => {
    const read = readFrom(
      'openai',
      'gpt-4o-transcribe-diarize',
      {
        task: 'transcribe',
        duration: 6.5,
        text: 'B: Good morning.\nA: Hello.\nB: Bye.',
        segments: [
          {
            type: 'transcript.text.segment',
            id: 'seg_0',
            start: 0.2,
            end: 1.4,
            text: ' Good morning.',
            speaker: 'B',
          },
          {
            type: 'transcript.text.segment',
            id: 'seg_1',
            start: 1.6,
            end: 2.25,
            text: ' Hello.',
            speaker: 'A',
          },
          { type: 'transcript.text.segment', id: 'seg_2', start: 3, end: 3.5, text: ' Bye.', speaker: 'B' },
        ],
        usage: {
          type: 'tokens',
          input_tokens: 65,
          output_tokens: 20,
          total_tokens: 85,
          input_token_details: { text_tokens: 0, audio_tokens: 65 },
        },
      },
      verbose,
    )
    expect(read).toEqual({
      text: 'Good morning. Hello. Bye.',
      language: null,
      durationSeconds: 6.5,
      segments: [
        { id: 0, start: 0.2, end: 1.4, text: 'Good morning.', speaker: 0, speaker_label: 'B' },
        { id: 1, start: 1.6, end: 2.25, text: 'Hello.', speaker: 1, speaker_label: 'A' },
        { id: 2, start: 3, end: 3.5, text: 'Bye.', speaker: 0, speaker_label: 'B' },
      ],
      words: null,
      confidence: null,
      languageConfidence: null,
      entities: null,
      tokens: { input: 65, inputAudio: 65, output: 20 },
      upstreamId: null,
    })
  })

  test('of gpt-transcribe has the detected languages, or none', () => {
    const read = (languages: unknown) =>
      readFrom('openai', 'gpt-transcribe', { text: 'Guten Tag.', languages })
    expect(read([{ code: 'de' }, { code: 'en' }]).language).toBe('de')
    expect(read([]).language).toBeNull()
  })

  test('of Mistral has speakers by segment, and terms as the caller wrote them', () => {
    const answer = {
      model: 'voxtral-mini-2602',
      text: 'Ask the Head_Race team about head_races and x_y.',
      language: 'en',
      segments: [
        {
          type: 'transcription_segment',
          text: 'Ask the Head_Race team',
          start: 0.1,
          end: 1.5,
          score: -0.1,
          speaker_id: 'speaker_2',
        },
        {
          type: 'transcription_segment',
          text: 'about head_races and x_y.',
          start: 1.5,
          end: 3,
          speaker_id: null,
        },
      ],
      usage: { prompt_audio_seconds: 3, prompt_tokens: 4, completion_tokens: 30, total_tokens: 72 },
    }
    const read = readFrom('mistral', 'voxtral-mini-2602', answer, {
      ...verbose,
      keyterms: ['head race', 'x_y'],
    })
    expect(read).toMatchObject({
      text: 'Ask the Head Race team about head_races and x_y.',
      language: 'en',
      durationSeconds: 3,
      segments: [
        {
          id: 0,
          start: 0.1,
          end: 1.5,
          text: 'Ask the Head Race team',
          speaker: 0,
          speaker_label: 'speaker_2',
        },
        { id: 1, start: 1.5, end: 3, text: 'about head_races and x_y.' },
      ],
      words: null,
    })
    expect(read.segments?.[1]).not.toHaveProperty('speaker')
  })

  test('of Together has the segments of its speakers', () => {
    const answer = {
      task: 'transcribe',
      language: 'english',
      duration: 2.5,
      text: 'Hi. Yes.',
      segments: [{ id: 0, start: 0, end: 2.5, text: 'Hi. Yes.' }],
      words: [
        { word: 'Hi.', start: 0, end: 0.5, speaker_id: 'SPEAKER_01' },
        { word: 'Yes.', start: 2, end: 2.5, speaker_id: 'SPEAKER_00' },
      ],
      speaker_segments: [
        {
          id: 0,
          speaker_id: 'SPEAKER_01',
          start: 0,
          end: 0.5,
          text: 'Hi.',
          words: [{ word: 'Hi.', start: 0, end: 0.5 }],
        },
        {
          id: 1,
          speaker_id: 'SPEAKER_00',
          start: 2,
          end: 2.5,
          text: 'Yes.',
          words: [{ word: 'Yes.', start: 2, end: 2.5 }],
        },
      ],
    }
    expect(
      readFrom('together', 'openai/whisper-large-v3', answer, { ...verbose, diarize: true }),
    ).toMatchObject({
      text: 'Hi. Yes.',
      language: 'en',
      durationSeconds: 2.5,
      segments: [
        { id: 0, start: 0, end: 0.5, text: 'Hi.', speaker: 0, speaker_label: 'SPEAKER_01' },
        { id: 1, start: 2, end: 2.5, text: 'Yes.', speaker: 1, speaker_label: 'SPEAKER_00' },
      ],
      words: [
        { word: 'Hi.', start: 0, end: 0.5, speaker: 0, speaker_label: 'SPEAKER_01' },
        { word: 'Yes.', start: 2, end: 2.5, speaker: 1, speaker_label: 'SPEAKER_00' },
      ],
    })
  })
})

describe('the implied ability of a name', () => {
  test.each([
    [
      'openai',
      'whisper-1',
      { verboseJson: true, wordTimes: true, diarize: false, keyterms: null, url: false },
    ],
    ['openai', 'gpt-4o-transcribe', { verboseJson: false, wordTimes: false, diarize: false, keyterms: null }],
    ['openai', 'gpt-4o-transcribe-diarize', { wordTimes: false, diarize: false, segmentSpeakers: true }],
    ['openai', 'gpt-transcribe', { verboseJson: false, wordTimes: false, keyterms: { countMax: null } }],
    ['groq', 'whisper-large-v3', { wordTimes: true, diarize: false, url: true, uploadBytesMax: 104_857_600 }],
    [
      'mistral',
      'voxtral-mini-2602',
      { wordTimes: true, diarize: false, keyterms: { countMax: 100 }, url: true },
    ],
    ['mistral', 'voxtral-mini-transcribe-3-0', { verboseJson: true, wordTimes: false, diarize: false }],
    ['fireworks', 'whisper-v3', { wordTimes: true, diarize: true, url: true, uploadBytesMax: 1_073_741_824 }],
    [
      'together',
      'openai/whisper-large-v3',
      { wordTimes: true, diarize: true, url: true, uploadBytesMax: null },
    ],
    ['deepinfra', 'openai/whisper-large-v3', { wordTimes: true, diarize: false, url: false }],
  ])('of %s’s %s', (slug, model, told) => {
    expect(endpointAt(slug, model).audio).toMatchObject(told)
  })

  test('is a limit of 25 MiB only at OpenAI and Azure', () => {
    for (const slug of ['openai', 'azure'])
      for (const model of ['whisper-1', 'gpt-4o-transcribe', 'gpt-4o-mini-transcribe', 'gpt-transcribe'])
        expect(endpointAt(slug, model).audio?.uploadBytesMax).toBe(26_214_400)
    expect(endpointAt('custom', 'whisper-1').audio?.uploadBytesMax).toBeNull()
  })
})
