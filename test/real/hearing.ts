import { containers } from '../support/spoken-sound.ts'
import type { AskedGateway, CaseResult } from './cases.ts'
import type { RunningServer } from './real-server.ts'
import type { Shelf } from './shelf.ts'
import type { Sounds, SpokenSound } from './sounds.ts'
import { wordErrorRate } from './word-error-rate.ts'

/** What a server of transcription told, or the gateway of it. */
interface Transcript {
  text: string
  language?: string
  duration?: number
  segments?: { start: number; end: number; text: string }[]
  words?: { word: string; start: number; end: number }[]
  usage?: { seconds?: number; cost?: number }
}

interface Asked {
  server: RunningServer
  gateway: AskedGateway
  model: string
  shelf: Shelf
}

/** One sound as a file. */
interface SoundFile {
  bytes: Uint8Array<ArrayBuffer>
  container: string
  /** The same samples as a WAV file, for those that a server reads only as one. */
  wave: Uint8Array<ArrayBuffer>
}

type Format = 'json' | 'verbose_json'

const formats = ['json', 'verbose_json'] as const
/** What the row of the configuration says, in USD for a minute. */
const pricePerMinute = 0.006
/** The gateway passes times on as the server tells them. */
const secondsApart = 0.001

/**
 * Has the server itself hear each sound in each container, and then the gateway before it, by each kind of input: text, times and
 * so the word error rate are to be the same.
 */
export async function runHearing(
  server: RunningServer,
  gateway: AskedGateway,
  { sounds, shelf }: { sounds: Sounds; shelf: Shelf },
): Promise<CaseResult[]> {
  const model = server.models.transcription
  if (model === null) return []
  const asked = { server, gateway, model, shelf }
  const results: CaseResult[] = []
  for (const [index, sound] of sounds.spoken.entries()) {
    const rates: Rates[] = []
    // The first sound comes in all of them; what the others add is their voices and their length.
    const chosen = index === 0 && server.tellsWords !== true ? Object.keys(containers) : ['wav', 'mp3']
    const name = `${sound.voice}, in ${chosen.join(', ')}`
    try {
      const wave = await sounds.lab.convert(sound.wave, 'wav')
      for (const container of chosen) {
        const bytes = await sounds.lab.convert(sound.wave, container)
        rates.push(await compare(asked, sound, { bytes, container, wave }))
      }
      results.push({ name, failure: null, figure: figureOf(rates) })
    } catch (error) {
      results.push({ name, failure: error instanceof Error ? error.message : String(error) })
    }
  }
  return results
}

/** Word error rates of one container. */
interface Rates {
  /** One for each format: with the times of words Whisper may hear otherwise. */
  direct: readonly number[]
  /** One for each format and way through the gateway. */
  throughGateway: readonly number[]
}

function figureOf(rates: readonly Rates[]): string {
  const all = rates.flatMap(({ throughGateway }) => throughGateway)
  const span = (values: readonly number[]) =>
    [...new Set([Math.min(...values), Math.max(...values)].map((value) => value.toFixed(3)))].join(' to ')
  const direct = span(rates.flatMap((rate) => rate.direct))
  return `word error rate ${direct} directly, ${span(all)} through the gateway, the same in each of ${all.length} answers`
}

async function compare(asked: Asked, sound: SpokenSound, file: SoundFile): Promise<Rates> {
  const direct: number[] = []
  const throughGateway: number[] = []
  for (const format of formats) {
    const told = await askDirectly(asked, file, format)
    const rate = wordErrorRate(sound.text, told.text)
    if (rate > sound.errorRateMax)
      throw new Error(`${file.container}: the server itself hears "${told.text}"`)
    const ways = await askEachWay(asked, file, format)
    for (const [way, answer] of Object.entries(ways)) {
      const through = wordErrorRate(sound.text, answer.text)
      const difference =
        through === rate ? differenceOf(told, answer, format) : `its error rate is ${through}`
      if (difference !== null) throw new Error(`${file.container} by ${way} as ${format}: ${difference}`)
      throughGateway.push(through)
    }
    direct.push(rate)
  }
  return { direct, throughGateway }
}

/** In what an answer of the gateway differs from the server's own; null when in nothing. */
function differenceOf(told: Transcript, answer: Transcript, format: Format): string | null {
  if (answer.text.trim() !== told.text.trim()) return `"${answer.text}" instead of "${told.text}"`
  const { seconds = 0, cost = 0 } = answer.usage ?? {}
  if (!(seconds > 1) || Math.abs(cost - (seconds / 60) * pricePerMinute) > 1e-6)
    return `${cost} for ${seconds} s`
  if (format === 'json') return null
  if (answer.language !== told.language) return `language ${answer.language} instead of ${told.language}`
  if (Math.abs((answer.duration ?? 0) - (told.duration ?? 0)) > 0.05)
    return `${answer.duration} s instead of ${told.duration} s`
  return (
    timesApart('segment', segmentsOf(told), segmentsOf(answer)) ??
    timesApart('word', told.words ?? [], answer.words ?? [])
  )
}

interface Timed {
  word: string
  start: number
  end: number
}

function segmentsOf({ segments = [] }: Transcript): Timed[] {
  return segments.map(({ start, end, text }) => ({ word: text, start, end }))
}

function timesApart(kind: string, told: readonly Timed[], answered: readonly Timed[]): string | null {
  if (told.length !== answered.length) return `${answered.length} ${kind}s instead of ${told.length}`
  for (const [index, { word, start, end }] of told.entries()) {
    const other = answered[index]
    const isSame =
      other?.word.trim() === word.trim() &&
      Math.abs(other.start - start) <= secondsApart &&
      Math.abs(other.end - end) <= secondsApart
    if (!isSame) return `${kind} ${JSON.stringify(other)} instead of ${JSON.stringify({ word, start, end })}`
  }
  return null
}

async function askDirectly(
  { server }: Asked,
  { bytes, container, wave }: SoundFile,
  format: Format,
): Promise<Transcript> {
  const form = new FormData()
  // Samples alone are no file that a server reads; the gateway sends them as one.
  const [sound, name] = container === 'pcm' ? [wave, 'sound.wav'] : [bytes, `sound.${container}`]
  form.set('file', new File([sound], name))
  form.set('model', 'whisper-1')
  for (const [field, value] of fieldsOf(server, format)) form.append(field, value)
  const response = await fetch(`${String(server.provider['base_url'])}/audio/transcriptions`, {
    method: 'POST',
    body: form,
  })
  return readTranscript(response)
}

/** What is asked for beside the sound. Without chance, so that the same sound is always heard the same. */
function fieldsOf({ tellsWords }: RunningServer, format: Format): [string, string][] {
  const granularities = tellsWords === true ? ['word', 'segment'] : ['segment']
  return [
    ['response_format', format],
    ['temperature', '0'],
    ...(format === 'verbose_json'
      ? granularities.map((value): [string, string] => ['timestamp_granularities[]', value])
      : []),
  ]
}

async function askEachWay(
  { server, gateway: { root, key }, model, shelf }: Asked,
  { bytes, container }: SoundFile,
  format: Format,
): Promise<Record<string, Transcript>> {
  const address = shelf.lay(`sound.${container}`, bytes)
  const fields = fieldsOf(server, format)
  const granularities = fields.filter(([name]) => name.startsWith('timestamp')).map(([, value]) => value)
  const members = {
    model,
    response_format: format,
    temperature: 0,
    ...(format === 'verbose_json' ? { timestamp_granularities: granularities } : {}),
  }
  const formOf = (...sound: [string, string] | [string, File]) => {
    const form = new FormData()
    form.set('model', model)
    for (const [field, value] of fields) form.append(field, value)
    form.append(...(sound as [string, string]))
    return form
  }
  const jsonOf = (sound: object) => JSON.stringify({ ...members, input_audio: sound })
  const send = async (body: string | FormData) => {
    const headers: Record<string, string> = { authorization: `Bearer ${key}` }
    if (typeof body === 'string') headers['content-type'] = 'application/json'
    return readTranscript(await fetch(`${root}/v1/audio/transcriptions`, { method: 'POST', headers, body }))
  }
  return {
    base64: await send(jsonOf({ data: Buffer.from(bytes).toString('base64'), format: container })),
    multipart: await send(formOf('file', new File([bytes], `sound.${container}`))),
    address: await send(jsonOf({ url: address, format: container })),
    'multipart with an address': await send(formOf('source_url', address)),
  }
}

async function readTranscript(response: Response): Promise<Transcript> {
  const text = await response.text()
  if (response.status !== 200)
    throw new Error(`${response.url} said ${response.status}: ${text.slice(0, 300)}`)
  return JSON.parse(text) as Transcript
}
