import type { TranscriptionAdapter } from '../src/canonical/audio.ts'
import type { AudioCapabilities, KeytermRules } from '../src/canonical/endpoint.ts'
import { leastAudio, traitsOf } from '../src/catalog/capabilities.ts'
import { callerLanguages } from '../src/formats/transcription/told-language.ts'
import type { Preset } from '../src/providers/define-provider.ts'
import { modelRulesOf, presets } from '../src/providers/registry.ts'
import { namesOf } from './documented-models.ts'
import { speechRows, speechTitles } from './speech-table.ts'

const head = `# Audio: what each provider can do

Generated from the folders of \`src/providers/\` by \`npm run check -- --fix\`; do not edit. A call goes to an endpoint of its model that can do
what it asks for, and is refused by the name of the field where none can. What a model offers can be said otherwise in the configuration
(\`providers[].models[].audio\`).

\`recorded\`: real replies of the provider are replayed by \`test/recordings\`. \`documented only\`: written after its documents, and
checked against a fake of it that was written after them too.

## Speech to text

- **Words**: times of words (\`timestamp_granularities\`). **Speakers**: of \`words\` with \`diarize\`, or of \`segments\` alone, which
  \`verbose_json\` shows unasked, and \`diarize\` is refused.
- **Key terms**: how many, and what one may be. **Entities**: where the provider's own options (\`provider.options\`) ask for them.
- **Addresses**: the provider fetches them itself; for the others the gateway does.
- **Formats**: the formats of sound that the provider takes; empty where the gateway sends it every format. The gateway sends \`pcm\` as
  WAV to a provider that takes no samples without a header.
- **Languages**: how many \`language\` may name, each sent in the provider's own word (\`cmn\`, \`jw\`), and another one is refused; empty
  where the provider lists none and is sent what the caller names. **Left there**: the provider keeps the recording or the
  transcript, which the gateway removes when the call is over (\`upstream_resources\`, [operations.md](operations.md)); empty where
  it keeps nothing that has a name. ElevenLabs keeps nothing of a call with \`provider.zdr\`.
`

const speechHead = `
## Text to speech

Below \`/openai/v1\` speech without \`response_format\` is mp3, and \`wav\` is given everywhere; below \`/v1\` it is \`pcm\`.

- **Gives**: the formats that the provider itself gives, samples at 24,000 Hz unless another rate is named; those that are not the
  contract's become so on their way. **Made here**: the gateway makes the other one of it, streaming
  ([ADR 10](adr/0010-mp3-is-made-here-by-lame.md)).
- **As**: what the provider's answer is while it speaks: the bytes of the sound, or JSON that has them.
- **Voice**: in \`voice\`, or as a part of the model's name. **References**: what \`input_references\` may hold.
- **Speed**, **Largest text**: the range of \`speed\`, and the characters of one call; empty where it has no speed, and where no bound
  is documented.
- **Billed by**: empty where the provider's listing tells it, and where nobody publishes a price: \`prices\` of the model in the
  configuration states it then.
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
