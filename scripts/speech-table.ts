import type { SpeechOutput, SpeechReader } from '../src/canonical/audio.ts'
import type { AudioCapabilities, Endpoint } from '../src/canonical/endpoint.ts'
import type { Price, PriceUnit } from '../src/canonical/usage.ts'
import { leastAudio, traitsOf } from '../src/catalog/capabilities.ts'
import { tableFacts } from '../src/catalog/prices/price-table.ts'
import { createProviderPrices } from '../src/catalog/prices/provider-prices.ts'
import { pricePackage } from '../src/catalog/prices/price-package.gen.ts'
import { testContext, testEndpoint } from '../src/formats/text/testing.ts'
import { atOnce } from '../src/core/turns.ts'
import { decodeSpeechJson } from '../src/formats/speech/decode-speech.ts'
import type { Preset } from '../src/providers/define-provider.ts'
import { modelRulesOf, presets } from '../src/providers/registry.ts'
import { namesOf } from './documented-models.ts'

export const speechTitles = [
  'Provider',
  'Models',
  'Gives',
  'Made here',
  'As',
  'Voice',
  'References',
  'Speed',
  'Largest text',
  'Billed by',
  'Status',
]

/** A row for all speaking models of a provider that can do the same. */
export function speechRows(): string[][] {
  return presets.flatMap((preset) => (preset.adapters.speech && !preset.isSimulator ? rowsOf(preset) : []))
}

function rowsOf(preset: Preset): string[][] {
  const { name, audio, recordedAudio } = preset
  const status = recordedAudio.includes('speech') ? 'recorded' : 'documented only'
  const models = new Map<string, { names: string[]; cells: string[] }>()
  for (const model of namesOf(preset)) {
    const traits = traitsOf(model, modelRulesOf(preset))
    if (traits.modality !== 'speech') continue
    const cells = cellsOf(preset, model, { ...leastAudio, ...traits.audio, ...audio.speech })
    const row = models.get(cells.join('|')) ?? { names: [], cells }
    row.names.push(`\`${preset.publicName(model)}\``)
    models.set(cells.join('|'), row)
  }
  if (models.size === 0) {
    const cells = cellsOf(preset, 'any', { ...leastAudio, ...audio.speech })
    return [[name, 'as the provider lists them or the configuration names them', ...cells, status]]
  }
  return [...models.values()].map(({ names, cells }) => [name, names.toSorted().join(', '), ...cells, status])
}

function cellsOf(preset: Preset, model: string, audio: AudioCapabilities): string[] {
  const given = audio.speechFormats
  const made = (['mp3', 'pcm'] as const).filter((format) => !given.includes(format))
  const reader = readerOf(preset, model, audio)
  return [
    given.map((format) => (format === 'mp3' ? 'mp3' : samplesAs(reader.output))).join(', '),
    made.join(', '),
    bodies[reader.framing ?? 'bytes'],
    voiceOf(preset, model, audio),
    referencesOf(audio),
    audio.speed === null ? '' : `${audio.speed.min} to ${audio.speed.max}`,
    audio.inputCharactersMax === null ? '' : `${audio.inputCharactersMax.toLocaleString('en')} characters`,
    unitsOf(priceOf(preset, model)),
  ]
}

const bodies = { bytes: 'bytes', json: 'JSON', lines: 'lines of JSON', events: 'events' } as const

/** What a call for samples opens, of which nothing is sent. */
function readerOf(preset: Preset, model: string, audio: AudioCapabilities): SpeechReader {
  const { adapters, slug } = preset
  const voice = hasVoiceInName(preset, model) ? {} : { voice: 'a' }
  const body = JSON.stringify({ model: 'a/b', input: 'a', ...voice })
  const call = atOnce(decodeSpeechJson(new TextEncoder().encode(body), { sessionId: null, accept: null }))
  const endpoint: Endpoint = { ...testEndpoint(model, slug), modality: 'speech', audio }
  const step = adapters.speech?.first({ call, endpoint, context: testContext })
  if (step?.type !== 'stream') throw new Error(`${slug} does not stream its speech`)
  return step.open(testContext, new Headers({ 'content-type': 'text/event-stream' }))
}

function samplesAs(output: SpeechOutput): string {
  if (output.container !== 'pcm') return `pcm, as ${output.container.toUpperCase()}`
  const isFloat = output.encoding === 'f32le'
  const departures = [
    isFloat ? ', as floats' : '',
    output.rate === 24_000 ? '' : ` at ${output.rate.toLocaleString('en')} Hz`,
  ]
  return `pcm${departures.join('')}`
}

function hasVoiceInName({ familyOfVoice }: Preset, model: string): boolean {
  return (familyOfVoice?.(model) ?? null) !== null
}

function voiceOf(preset: Preset, model: string, audio: AudioCapabilities): string {
  if (hasVoiceInName(preset, model)) return 'in the name'
  if (preset.familyOfVoice !== undefined) return '`voice`, or in the name'
  const among = audio.voices === null ? '`voice`' : `\`voice\`, one of ${audio.voices.length}`
  const chosen = audio.ownVoicePrefix === undefined ? among : `${among} or your own`
  const isOptional = audio.isVoiceOptional || audio.defaultVoice !== null
  return isOptional ? `${chosen}, or none` : chosen
}

function referencesOf(audio: AudioCapabilities): string {
  if (!audio.voiceCloning && !audio.imageReference) return ''
  const clips = audio.multipleReferences ? 'clips' : 'one clip'
  const words = audio.referenceTranscripts ? ' with transcripts' : ''
  return [audio.voiceCloning ? `${clips}${words}` : '', audio.imageReference ? 'an image' : '']
    .filter((kind) => kind !== '')
    .join(', ')
}

/** The latest that is known, so that the page does not change with the day. */
function priceOf({ pricesProviderId, prices, documentedModels }: Preset, model: string): Price {
  const latestMs = Number.MAX_SAFE_INTEGER
  const known = tableFacts({ table: pricePackage, providerId: pricesProviderId }, model, latestMs)
  return { ...known?.price, ...createProviderPrices(prices, documentedModels).priceOf(model, latestMs) }
}

const units: Readonly<Partial<Record<PriceUnit, string>>> = {
  character: 'characters',
  utf8Byte: 'UTF-8 bytes',
  audioHour: 'time of the speech',
  inputToken: 'tokens',
  outputToken: 'tokens',
  outputAudioToken: 'tokens',
}

function unitsOf(price: Price): string {
  const known = Object.entries(units).flatMap(([unit, name]) =>
    price[unit as PriceUnit] === undefined ? [] : [name],
  )
  return [...new Set(known)].join(', ')
}
