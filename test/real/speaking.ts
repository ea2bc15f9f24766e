import OpenAI from 'openai'
import type { AskedGateway, CaseResult } from './cases.ts'
import type { RunningServer } from './real-server.ts'
import type { SoundLab } from './sounds.ts'
import { wordErrorRate } from './word-error-rate.ts'

const text =
  'The weather is good today. Please send five letters to the office. The quick brown fox jumps over the lazy dog.'
/** Speech at the contract's rate. */
const pcmRate = 24_000
/** What an encoder adds at both ends. */
const secondsApart = 0.15
/** A voice made for another language has an accent. */
const errorRateMax = 0.4

/** What hears: Whisper's own server, asked without a gateway. */
interface Ears {
  lab: SoundLab
  server: RunningServer
}

/** Has a server speak, and the gateway before it, in each format of the contract; Whisper is to understand both. */
export async function runSpeaking(
  server: RunningServer,
  gateway: AskedGateway,
  ears: Ears,
): Promise<CaseResult[]> {
  const model = server.models.speech
  const own = server.speaksAs
  if (model === null || own === undefined) return []
  const asked = { server, gateway, model, own }
  const results: CaseResult[] = []
  const cases = {
    mp3: () => isUnderstood(asked, ears, 'mp3'),
    pcm: () => isUnderstood(asked, ears, 'pcm'),
    'openai in JavaScript': () => speaksToClient(asked),
    'an empty text': () => isRefused(asked),
  }
  for (const [name, check] of Object.entries(cases)) {
    try {
      results.push({ name, failure: null, figure: await check() })
    } catch (error) {
      results.push({ name, failure: error instanceof Error ? error.message : String(error) })
    }
  }
  return results
}

interface Asked {
  server: RunningServer
  gateway: AskedGateway
  model: string
  /** By which the server itself is asked. */
  own: { model: string; voice: string }
}

type Format = 'mp3' | 'pcm'

async function isUnderstood(asked: Asked, ears: Ears, format: Format): Promise<string> {
  const { gateway, model } = asked
  const startMs = performance.now()
  const response = await ask(gateway, { model, input: text, response_format: format })
  const headMs = performance.now() - startMs
  const sound = new Uint8Array(await response.arrayBuffer())
  if (response.status !== 200) throw new Error(`${response.status}: ${Buffer.from(sound).toString()}`)
  const type = format === 'mp3' ? 'audio/mpeg' : `audio/pcm;rate=${pcmRate};channels=1`
  const given = response.headers.get('content-type')
  if (given !== type) throw new Error(`its type is ${given}`)
  await isBooked(asked, response.headers.get('x-generation-id') ?? '')
  const through = await hear(ears, sound, format)
  const direct = await hear(ears, await speakDirectly(asked), 'wav')
  if (Math.abs(through.seconds - direct.seconds) > secondsApart)
    throw new Error(`it lasts ${through.seconds} s, and ${direct.seconds} s from the server itself`)
  const rates = [direct, through].map((heard) => wordErrorRate(text, heard.text))
  if (rates.some((rate) => rate > errorRateMax))
    throw new Error(`Whisper hears "${direct.text}" directly and "${through.text}" through the gateway`)
  const [rateDirect = 1, rateThrough = 1] = rates
  return `Whisper's word error rate ${rateDirect.toFixed(3)} directly, ${rateThrough.toFixed(3)} through the gateway; ${through.seconds.toFixed(2)} s of sound, head after ${Math.round(headMs)} ms`
}

/** Where the row has a price, each character costs it. */
async function isBooked({ gateway, server }: Asked, id: string): Promise<void> {
  const headers = { authorization: `Bearer ${gateway.key}` }
  const found = await fetch(`${gateway.root}/v1/generation?id=${id}`, { headers })
  const { data } = (await found.json()) as { data?: { total_cost?: number } }
  const isPriced = server.provider['models'] !== undefined
  const wanted = isPriced ? (text.length * 15) / 1_000_000 : 0
  const cost = data?.total_cost ?? Number.NaN
  if (!(Math.abs(cost - wanted) < 1e-9)) throw new Error(`it cost ${cost}, not ${wanted}`)
}

function ask({ root, key }: AskedGateway, body: object): Promise<Response> {
  return fetch(`${root}/v1/audio/speech`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

/** The server's own answer: a WAV file, which says what is in it. */
async function speakDirectly({ server, own }: Asked): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(`${String(server.provider['base_url'])}/audio/speech`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...own, input: text, response_format: 'wav' }),
  })
  if (response.status !== 200) throw new Error(`the server itself said ${response.status}`)
  return new Uint8Array(await response.arrayBuffer())
}

/** What Whisper hears, and how long the sound is when it is decoded. */
async function hear(
  { lab, server }: Ears,
  sound: Uint8Array<ArrayBuffer>,
  format: Format | 'wav',
): Promise<{ text: string; seconds: number }> {
  const wave = await lab.decode(sound, format === 'pcm' ? { rate: pcmRate } : null)
  const form = new FormData()
  form.set('file', new File([wave], 'sound.wav'))
  form.set('temperature', '0')
  form.set('response_format', 'verbose_json')
  const url = `${String(server.provider['base_url'])}/audio/transcriptions`
  const response = await fetch(url, { method: 'POST', body: form })
  if (response.status !== 200) throw new Error(`Whisper said ${response.status}: ${await response.text()}`)
  const { text: heard, duration } = (await response.json()) as { text: string; duration: number }
  return { text: heard, seconds: duration }
}

/** The official client reads the sound as it comes. */
async function speaksToClient({ gateway: { root, key }, model, own }: Asked): Promise<string> {
  const client = new OpenAI({ baseURL: `${root}/v1`, apiKey: key, maxRetries: 0 })
  const response = await client.audio.speech.create({ model, voice: own.voice, input: text })
  const bytes = (await response.arrayBuffer()).byteLength
  if (bytes < pcmRate) throw new Error(`${bytes} bytes are no speech`)
  return `${bytes} bytes`
}

async function isRefused({ gateway, model }: Asked): Promise<string> {
  const response = await ask(gateway, { model, input: '' })
  const body = (await response.json()) as { error?: { message?: string } }
  if (response.status !== 400) throw new Error(`${response.status}: ${JSON.stringify(body)}`)
  return `400: ${body.error?.message}`
}
