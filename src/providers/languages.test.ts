import { describe, expect, test } from 'bun:test'
import type { TranscriptionCall } from '../canonical/call.ts'
import type { Endpoint } from '../canonical/endpoint.ts'
import { leastAudio, traitsOf } from '../catalog/capabilities.ts'
import { testContext, testEndpoint } from '../formats/text/testing.ts'
import { transcriptionRequirements } from '../formats/transcription/transcription-requirements.ts'
import { testSound, testTranscription } from '../formats/transcription/transcription-testing.ts'
import { findPreset, modelRulesOf } from './registry.ts'
import { rowsOf } from '../../test/support/rows-of-providers.ts'

// The languages of each vendor, written by hand from the types of its own client or, if those have none, from its
// documentation. Each is requested by the caller's code for it.

const vendors = rowsOf('languages')
type Vendor = (typeof vendors)[number]

/** The caller's code when it differs from the vendor's; null when callers have none. */
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

/** The vendor's name of the language in its request: in a form, in a form's JSON, or in JSON. */
async function wordSent(endpoint: Endpoint, call: TranscriptionCall): Promise<string | undefined> {
  const adapter = findPreset(endpoint.deployment.preset)?.adapters.transcription
  let step = adapter?.first({ call, endpoint, context: testContext })
  // Gladia and AssemblyAI receive the sound before the options.
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
    // Norwegian has two codes; each vendor knows one of them.
    const bokmal = callFor('nb')
    const sent = isServed(endpoint, bokmal) ? await wordSent(endpoint, bokmal) : 'refused'
    if (sent !== 'no') wrong.push(`nb: ${sent} for no`)
    expect(wrong).toEqual([])
  })

  test(`the languages of ${slug}: an unknown one is refused by the field’s name, with the known ones`, () => {
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
