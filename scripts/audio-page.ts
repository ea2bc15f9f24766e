import type { TranscriptionAdapter } from '../src/canonical/audio.ts'
import type { AudioCapabilities, KeytermRules } from '../src/canonical/endpoint.ts'
import { leastAudio, traitsOf } from '../src/catalog/capabilities.ts'
import { callerLanguages } from '../src/formats/transcription/told-language.ts'
import type { Preset } from '../src/providers/define-provider.ts'
import { modelRulesOf, presets } from '../src/providers/registry.ts'
import { namesOf } from './documented-models.ts'
import { speechRows, speechTitles } from './speech-table.ts'

const head = `# Audio: what each provider can do

Generated from the folders of \`src/providers/\` by \`npm run check -- --fix\`; do not edit. The gateway sends a call to an endpoint of
its model that supports every field of the request. If no endpoint does, the call is refused and the error names the field.
\`providers[].models[].audio\` in the configuration overrides what this page says of a model.

\`recorded\`: the tests replay real replies of the provider (\`test/recordings\`). \`documented only\`: the adapter follows the
provider's documents and was tested against a simulated provider that follows the same documents.

## Speech to text

- **Words**: the transcript has the time of each word (\`timestamp_granularities\`).
- **Speakers**: \`words\` means that \`diarize\` names the speaker of each word. \`segments\` means that the provider names speakers
  of segments only: \`verbose_json\` shows them without \`diarize\`, and \`diarize\` is refused.
- **Key terms**: the largest number of key terms, and the limits of one. **Entities**: the provider's own options
  (\`provider.options\`) can ask for them.
- **Addresses**: who fetches a recording that the caller names by its address.
- **Formats**: the audio formats that the provider accepts. Empty: the gateway sends it every format. A provider that accepts no
  samples without a header gets \`pcm\` as WAV.
- **Languages**: how many languages \`language\` may name. The gateway sends each in the provider's own spelling (\`cmn\`, \`jw\`) and
  refuses all others. Empty: the provider publishes no list, and the gateway sends the caller's value.
- **Left there**: the provider keeps the recording or the transcript, and the gateway removes it after the call
  (\`upstream_resources\`, [operations.md](operations.md)). Empty: the provider keeps nothing that can be removed. ElevenLabs keeps
  nothing of a call with \`provider.zdr\`.
`

const speechHead = `
## Text to speech

Without \`response_format\` the answer is \`pcm\` below \`/v1\` and \`mp3\` below \`/openai/v1\`, where every provider's speech is also
available as \`wav\`.

- **Gives**: the formats that the provider returns. Samples have 24,000 Hz unless the table names another rate; the gateway
  converts other rates and sample types while it streams.
- **Made here**: the format that the gateway makes from the provider's, also while it streams
  ([ADR 10](adr/0010-mp3-is-made-here-by-lame.md)).
- **As**: the form of the provider's answer: the bytes of the audio, or JSON or events that contain them.
- **Voice**: where the voice is named: in \`voice\`, or as a part of the model's name. **References**: what \`input_references\` may
  contain.
- **Speed**: the range of \`speed\`; empty: the provider has no speed. **Largest text**: characters of one call; empty: no limit is
  documented.
- **Billed by**: the unit of the price. Empty: the provider's model listing states the price, or nobody publishes one; in the
  second case set \`prices\` of the model in the configuration.
`

/** `docs/audio.md`. */
export function audioDocument(): string {
  const rows = presets.flatMap((preset) =>
    preset.adapters.transcription && !preset.isSimulator ? rowsOf(preset) : [],
  )
  const titles = [
    'Provider',
    'Models',
    'Words',
    'Speakers',
    'Key terms',
    'Entities',
    'Addresses',
    'Formats',
    'Largest',
    'Longest',
    'Languages',
    'Left there',
    'Status',
  ]
  return `${head}\n${tableOf(titles, rows)}\n${speechHead}\n${tableOf(speechTitles, speechRows())}\n`
}

function tableOf(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  return [titles, titles.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** A row for all models of a provider that can do the same. */
function rowsOf(preset: Preset): string[][] {
  const { name, audio, recordedAudio, adapters } = preset
  const left = leftBy(adapters.transcription?.resources)
  const status = recordedAudio.includes('transcription') ? 'recorded' : 'documented only'
  const models = new Map<string, { names: string[]; cells: string[] }>()
  for (const model of namesOf(preset)) {
    const traits = traitsOf(model, modelRulesOf(preset))
    if (traits.modality !== 'transcription') continue
    const cells = cellsOf({ ...leastAudio, ...traits.audio, ...audio.transcription })
    const row = models.get(cells.join('|')) ?? { names: [], cells }
    row.names.push(`\`${preset.publicName(model)}\``)
    models.set(cells.join('|'), row)
  }
  if (models.size === 0) {
    const cells = cellsOf({ ...leastAudio, ...audio.transcription })
    return [[name, 'as the provider lists them or the configuration names them', ...cells, left, status]]
  }
  return [...models.values()].map(({ names, cells }) => [
    name,
    names.toSorted().join(', '),
    ...cells,
    left,
    status,
  ])
}

function cellsOf(audio: AudioCapabilities): string[] {
  return [
    audio.wordTimes ? 'yes' : '',
    speakersOf(audio),
    audio.keyterms === null ? '' : keytermsOf(audio.keyterms),
    audio.entities ? 'yes' : '',
    audio.url ? 'provider' : 'gateway',
    audio.uploadFormats?.join(', ') ?? '',
    audio.uploadBytesMax === null ? '' : sizeOf(audio.uploadBytesMax),
    audio.audioMillisecondsMax === null ? '' : lengthOf(audio.audioMillisecondsMax / 1000),
    audio.languages === null ? '' : String(callerLanguages(audio).length),
  ]
}

/** What is kept of a call at its provider, and what becomes of it. */
function leftBy(resources: TranscriptionAdapter['resources']): string {
  if (resources === undefined) return ''
  return Object.values(resources).some(({ remove }) => remove !== null) ? 'removed' : 'stays'
}

function speakersOf({ diarize, segmentSpeakers }: AudioCapabilities): string {
  if (diarize) return 'words'
  return segmentSpeakers ? 'segments' : ''
}

function keytermsOf({ countMax, charactersMax, wordsMax, tokensMax }: KeytermRules): string {
  const bounds = [
    countMax === null ? [] : [`at most ${countMax}`],
    charactersMax === null ? [] : [`${charactersMax} characters each`],
    wordsMax === null ? [] : [`${wordsMax} words each`],
    tokensMax === null ? [] : [`${tokensMax} tokens in all`],
  ].flat()
  return bounds.length === 0 ? 'yes' : bounds.join(', ')
}

function sizeOf(bytes: number): string {
  const gigabytes = bytes / 1e9
  return gigabytes >= 1 ? `${Number(gigabytes.toFixed(1))} GB` : `${Math.round(bytes / 1e6)} MB`
}

function lengthOf(seconds: number): string {
  return seconds >= 3600 ? `${Number((seconds / 3600).toFixed(1))} h` : `${Math.round(seconds / 60)} min`
}
