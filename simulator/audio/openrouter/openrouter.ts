import type { ApiError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../json.ts'
import { jsonReply, type Reply } from '../../reply.ts'
import { createFolder, FileSpool } from '../../uploaded-file.ts'
import { type AudioApi, type AudioAsked, textMember } from '../audio-api.ts'
import { generationId, refused } from './refusals.ts'
import { speech } from './speech.ts'
import { bearerStyle } from '../bearer-style.ts'
import { entitiesIn } from '../entities.ts'
import { hear, type Heard, turnsOf } from '../hearing.ts'
import { fetchFile, type RemoteFile } from '../remote-file.ts'
import { textOf } from '../whisper-body.ts'

const uploadBytesMax = 25_000_000

/** The abilities of each model. */
const models: Readonly<Record<string, { hasWords: boolean; diarizes: boolean; takesTerms: boolean }>> = {
  'openai/whisper-1': { hasWords: true, diarizes: false, takesTerms: false },
  'openai/gpt-4o-mini-transcribe': { hasWords: false, diarizes: false, takesTerms: false },
  'deepgram/nova-3': { hasWords: true, diarizes: true, takesTerms: true },
}

const members = new Set([
  'model',
  'input_audio',
  'language',
  'temperature',
  'response_format',
  'timestamp_granularities',
  'diarize',
  'keyterms',
  'provider',
  'session_id',
  'user',
  'trace',
])

interface Asking {
  model: string
  isLong: boolean
  words: boolean
  segments: boolean
  diarize: boolean
  language: string | null
}

const undecodable = () => refused('The audio could not be decoded.')
const unreachable = () => refused('The audio could not be downloaded from its URL.')

async function transcriptions(asked: AudioAsked): Promise<Reply> {
  const { json, mount, faults, programs, signal, key } = asked
  if (json === null) throw refused('The body must be a JSON object.')
  const asking = parsed(json)
  const posted = await soundOf(json['input_audio'], signal)
  try {
    const reading = {
      ...(posted.isSamples ? { samples: { rate: 16_000, channels: 1 } } : {}),
      unrecognised: undecodable,
      undecodable,
    }
    const heard = await hear(posted.file, { faults, settings: mount.settings, programs, signal }, reading)
    return { ...jsonReply(JSON.stringify(told(asking, heard))), headers: generationId('stt', key) }
  } finally {
    await posted.dispose()
  }
}

function parsed(json: JsonObject): Asking {
  const unknown = Object.keys(json).find((name) => !members.has(name))
  if (unknown !== undefined) throw refused(`Unrecognized key: "${unknown}"`)
  const model = textMember(json, 'model') ?? ''
  const traits = models[model]
  if (traits === undefined) throw refused(`${model} is not a valid model ID`)
  const format = json['response_format'] ?? 'json'
  if (format !== 'json' && format !== 'verbose_json')
    throw refused(
      `Unsupported response_format ${JSON.stringify(format)}. Only "json" and "verbose_json" are supported.`,
    )
  const wanted = json['timestamp_granularities'] ?? []
  if (!Array.isArray(wanted) || wanted.some((one) => one !== 'word' && one !== 'segment'))
    throw refused('timestamp_granularities must be an array of word and segment')
  const isLong = format === 'verbose_json'
  const diarize = json['diarize'] === true
  if ((wanted.length > 0 || diarize) && !isLong) throw refused('This needs response_format "verbose_json".')
  if (diarize && !traits.diarizes) throw unsupported('diarize')
  const terms = json['keyterms']
  if (Array.isArray(terms) && terms.length > 0 && !traits.takesTerms) throw unsupported('keyterms')
  return {
    model,
    isLong,
    words: traits.hasWords && (wanted.includes('word') || diarize),
    segments: wanted.length === 0 || wanted.includes('segment'),
    diarize,
    language: textMember(json, 'language'),
  }
}

function unsupported(field: string): ApiError {
  return refused(
    `The selected model does not support ${field}. Remove the field or choose a model whose provider supports it.`,
  )
}

/** Reads the sound from the body, or from its address. */
async function soundOf(given: unknown, signal: AbortSignal): Promise<RemoteFile & { isSamples: boolean }> {
  const audio = isObject(given) ? given : {}
  const [data, url, format] = [
    textMember(audio, 'data'),
    textMember(audio, 'url'),
    textMember(audio, 'format'),
  ]
  if ((data === null) === (url === null)) throw refused('input_audio needs either data or url.')
  const isSamples = format === 'pcm'
  if (url !== null) {
    return { ...(await fetchFile(url, { bytesMax: uploadBytesMax, signal, unreachable })), isSamples }
  }
  if (format === null) throw refused('input_audio.format is needed with data.')
  if (data === null || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) throw refused('input_audio.data is not base64.')
  const folder = createFolder()
  const spool = new FileSpool(folder)
  await spool.write(Buffer.from(data, 'base64'))
  const file = await spool.finish({ name: 'data', fileName: `audio.${format}`, contentType: null })
  return { file, isSamples, dispose: () => folder.remove() }
}

function told(asking: Asking, heard: Heard): JsonObject {
  const text = textOf(heard)
  const usage = { cost: Math.ceil(heard.seconds) / 10_000, seconds: heard.seconds }
  if (!asking.isLong) return { text, usage }
  const turns = turnsOf(heard.recognition)
  const spoken = (speaker: number) => (asking.diarize ? { speaker, speaker_label: `speaker_${speaker}` } : {})
  const segments = turns.map(({ speaker, words }, id) => ({
    id,
    start: words[0]?.start ?? 0,
    end: words.at(-1)?.end ?? 0,
    text: words.map(({ word }) => word).join(' '),
    ...spoken(speaker),
  }))
  const words = turns.flatMap((turn) =>
    turn.words.map((word) => ({ ...word, type: 'word', ...spoken(turn.speaker) })),
  )
  return {
    task: 'transcribe',
    language: asking.language ?? 'en',
    duration: heard.seconds,
    text,
    ...(asking.segments ? { segments } : {}),
    ...(asking.words ? { words, confidence: 0.97, entities: namedIn(heard) } : {}),
    usage,
  }
}

/** Offsets count characters of the text; the end is exclusive. */
function namedIn({ recognition: { utterances } }: Heard): JsonObject[] {
  const words = utterances.flat()
  const startOf = (index: number) =>
    words.slice(0, index).reduce((at, { word }) => at + [...word].length + 1, 0)
  return entitiesIn(words).map(({ kind, startWord, endWord }) => {
    const text = words
      .slice(startWord, endWord)
      .map(({ word }) => word)
      .join(' ')
    const start = startOf(startWord)
    return { text, type: kind, start_char: start, end_char: start + [...text].length }
  })
}

/** OpenRouter's audio: sound in JSON. Forms are not simulated. */
export const openrouter: AudioApi = {
  slug: 'openrouter',
  style: bearerStyle(
    ({ status, message }) => ({ error: { code: status, message } }),
    () => ({}),
  ),
  uploadBytesMax,
  modelOf: ({ json }) => textMember(json, 'model'),
  operations: [
    { method: 'POST', path: /^\/api\/v1\/audio\/transcriptions$/, answer: transcriptions },
    { method: 'POST', path: /^\/api\/v1\/audio\/speech$/, answer: speech },
  ],
}
