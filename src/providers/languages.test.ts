import { describe, expect, test } from 'bun:test'
import type { TranscriptionCall } from '../canonical/call.ts'
import type { Endpoint } from '../canonical/endpoint.ts'
import { leastAudio, traitsOf } from '../catalog/capabilities.ts'
import { testContext, testEndpoint } from '../formats/text/testing.ts'
import { transcriptionRequirements } from '../formats/transcription/transcription-requirements.ts'
import { testSound, testTranscription } from '../formats/transcription/transcription-testing.ts'
import { findPreset, modelRulesOf } from './registry.ts'

// The languages of each vendor, by hand from its own client's types or, where those list none, from its documents; each is
// asked for by the code that callers have for it.

/** What Whisper hears, as most of its hosts list it. */
const whisper = (
  'af am ar as az ba be bg bn bo br bs ca cs cy da de el en es et eu fa fi fo fr gl gu ha haw he hi hr ht hu hy id is it ja ka ' +
  'kk km kn ko la lb ln lo lt lv mg mi mk ml mn mr ms mt my ne nl nn no oc pa pl ps pt ro ru sa sd si sk sl sn so sq sr su sv ' +
  'sw ta te tg th tk tl tr tt uk ur uz vi yi yo zh'
).split(' ')

interface Vendor {
  preset: string
  model: string
  /** In the vendor's own words. */
  languages: readonly string[]
  /** Codes of two letters that it has no word for. */
  unknown: readonly string[]
}

const vendors: readonly Vendor[] = [
  // npm @gladiaio/sdk 2.1.0, PreRecordedV2TranscriptionLanguageCode.
  { preset: 'gladia', model: 'solaria-1', languages: [...whisper, 'jw'], unknown: ['ga', 'wo'] },
  // npm @cartesia/cartesia-js 4.2.0, STTTranscribeParams.
  { preset: 'cartesia', model: 'ink-whisper', languages: [...whisper, 'jw', 'yue'], unknown: ['ga'] },
  // npm assemblyai 4.41.5, TranscriptLanguageCode.
  { preset: 'assemblyai', model: 'universal-2', languages: [...whisper, 'jw'], unknown: ['ga'] },
  // npm groq-sdk 1.6.0, TranscriptionCreateParams.
  { preset: 'groq', model: 'whisper-large-v3', languages: [...whisper, 'jv', 'yue'], unknown: ['ga'] },
  // https://docs.fireworks.ai/api-reference/audio-transcriptions
  { preset: 'fireworks', model: 'whisper-v3', languages: [...whisper, 'jw', 'yue'], unknown: ['ga'] },
  // https://docs.speechmatics.com/speech-to-text/languages/transcription
  {
    preset: 'speechmatics',
    model: 'enhanced',
    languages: (
      'ar ba eu be bn bg yue ca hr cs da nl en eo et fi fr gl de el he hi hu id ia ga it ja ko lv lt ms mt cmn mr mn no fa pl pt ' +
      'ro ru sk sl es sw sv tl ta th tr uk ur ug vi cy'
    ).split(' '),
    unknown: ['jv', 'af'],
  },
]

/** The caller's code where it is another than the vendor's word; null where callers have none. */
const codes: Readonly<Record<string, string | null>> = { jw: 'jv', cmn: 'zh', haw: null, yue: null }

function endpointOf({ preset: slug, model }: Vendor): Endpoint {
  const preset = findPreset(slug)
  if (preset === null) throw new Error(`there is no ${slug}`)
  const told = traitsOf(model, modelRulesOf(preset))
  return {
    ...testEndpoint(model, slug),
    modality: 'transcription',
    audio: { ...leastAudio, ...told.audio, ...preset.audio.transcription },
  }
}

const isServed = (endpoint: Endpoint, call: TranscriptionCall) =>
  transcriptionRequirements(call).every(({ isMet }) => isMet(endpoint))

/** The word for the language in what the vendor is sent: in a form, in a form's JSON, or in JSON. */
async function wordSent(endpoint: Endpoint, call: TranscriptionCall): Promise<string | undefined> {
  const adapter = findPreset(endpoint.deployment.preset)?.adapters.transcription
  let step = adapter?.first({ call, endpoint, context: testContext })
  // Gladia and AssemblyAI are given the sound before they are told what to do with it.
  if (step?.type === 'send' && step.exchange.request.path.endsWith('upload')) {
    const told = { audio_url: 'https://files.example/1', upload_url: 'https://files.example/1' }
    const bytes = new TextEncoder().encode(JSON.stringify(told))
    step = adapter?.next(
      step.state,
      { headers: new Headers(), bytes },
      { call, endpoint, context: testContext },
    )
  }
  if (step?.type !== 'send') throw new Error('expected a request')
  const { body, headers } = step.exchange.request
  if (body === null) throw new Error('expected a body')
  const text = 'open' in body ? await new Response(body.open()).text() : body.join('')
  expect(headers['content-type']).toBeDefined()
  return (
    /"language(?:s|_code)?":\[?"([^"]*)"/.exec(text)?.[1] ?? /name="language"\r\n\r\n([^\r]*)/.exec(text)?.[1]
  )
}

const callFor = (language: string) => testTranscription({ audio: testSound('mp3'), language })

describe.each(vendors.map((vendor) => [vendor.preset, vendor] as const))('%s', (slug, vendor) => {
  const endpoint = endpointOf(vendor)

  test(`the languages of ${slug}: each is asked for in its own word`, async () => {
    const wrong: string[] = []
    for (const word of vendor.languages) {
      const code = word in codes ? codes[word] : word
      if (code === null || code === undefined) continue
      const call = callFor(code)
      const sent = isServed(endpoint, call) ? await wordSent(endpoint, call) : 'refused'
      if (sent !== word) wrong.push(`${code}: ${sent} for ${word}`)
    }
    // Norwegian has two codes, of which each vendor knows one.
    const bokmal = callFor('nb')
    const sent = isServed(endpoint, bokmal) ? await wordSent(endpoint, bokmal) : 'refused'
    if (sent !== 'no') wrong.push(`nb: ${sent} for no`)
    expect(wrong).toEqual([])
  })

  test(`the languages of ${slug}: what it has no word for is refused by the field’s name, with what it has`, () => {
    for (const language of vendor.unknown) {
      const call = callFor(language)
      const unmet = transcriptionRequirements(call).find(({ isMet }) => !isMet(endpoint))
      const error = unmet?.refuse('a/model', [endpoint])
      expect(error?.param).toBe('language')
      expect(error?.message).toContain(`"${language}"`)
      expect(error?.message).toMatch(/Send one of [a-z]{2}(?:, [a-z]{2})+, or omit it/)
    }
  })
})
