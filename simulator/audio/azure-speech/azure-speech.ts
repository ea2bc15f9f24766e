import { jsonReply, type Reply } from '../../reply.ts'
import type { AudioApi, AudioAsked } from '../audio-api.ts'
import { type Heard, punctuated, turnsOf } from '../hearing.ts'
import { checkForm, hearForm, type SoundRules } from '../posted-form.ts'
import { keyBehind, oneHeader, refusalStyle } from '../speech-api.ts'
import { type Definition, definitionOf } from './definition.ts'
import { refusal, usual } from './refusals.ts'

const version = '2025-10-15'
/** The documented upper bounds of a file. */
const bytesMax = 250_000_000
const secondsMax = 7_200

const rules: SoundRules = {
  fields: { definition: 'once' },
  filePart: 'audio',
  urlField: null,
  urlOf: (asked) => definitionOf(asked).audioUrl,
  bytesMax: bytesMax - 1,
  refuse: {
    field: (_field, message) => refusal(message),
    sound: (message) => refusal(message),
    unreachable: () => refusal('The audio at audioUrl could not be read.'),
  },
}

async function transcribe(asked: AudioAsked): Promise<Reply> {
  if (asked.query.get('api-version') !== version) throw refusal(`api-version must be ${version}.`)
  checkForm(asked, rules)
  const definition = definitionOf(asked)
  const heard = await hearForm(asked, rules)
  if (heard.seconds >= secondsMax) throw refusal('The audio must be shorter than two hours.')
  return {
    ...jsonReply(JSON.stringify(answerOf(definition, heard))),
    headers: { 'x-simulator-transcription': heard.recognition.engine },
  }
}

const milliseconds = (seconds: number) => Math.round(seconds * 1000)

const spanOf = (start: number, end: number) => ({
  offsetMilliseconds: milliseconds(start),
  durationMilliseconds: milliseconds(end) - milliseconds(start),
})

/** When channels are requested, each of two speakers has its own. */
function answerOf({ locales, channels, diarize }: Definition, { recognition, seconds }: Heard): object {
  const phrases = turnsOf(recognition).map(({ words, speaker }) => {
    const written = punctuated(words)
    const sum = words.reduce((total, { confidence }) => total + confidence, 0)
    return {
      ...(channels === null ? {} : { channel: channels[speaker % channels.length] }),
      // Numbers of speakers have no order.
      ...(diarize ? { speaker: 2 - speaker } : {}),
      ...spanOf(words[0]?.start ?? 0, words.at(-1)?.end ?? 0),
      text: written.join(' '),
      words: words.map(({ start, end }, at) => ({ text: written[at], ...spanOf(start, end) })),
      locale: locales[0] ?? 'en-US',
      confidence: words.length === 0 ? 0 : sum / words.length,
    }
  })
  const textOf = (some: typeof phrases) => some.map(({ text }) => text).join(' ')
  const combinedPhrases =
    channels === null
      ? [{ text: textOf(phrases) }]
      : channels.map((channel) => ({
          channel,
          text: textOf(phrases.filter((phrase) => phrase.channel === channel)),
        }))
  return { durationMilliseconds: milliseconds(seconds), combinedPhrases, phrases }
}

/**
 * Fast transcription of Azure Speech. Batch jobs, the short-audio API, translations and the profanity filter
 * are not simulated.
 */
export const azureSpeech: AudioApi = {
  slug: 'azure-speech',
  style: refusalStyle({
    keyOf: (headers) =>
      oneHeader(headers['ocp-apim-subscription-key']) ?? keyBehind('Bearer', headers.authorization),
    usual,
    body: ({ code, message }) => ({ error: { code, message } }),
  }),
  // The body is a form, so it is a little larger than the file.
  uploadBytesMax: bytesMax + 65_536,
  modelOf: () => null,
  operations: [{ method: 'POST', path: /^\/speechtotext\/transcriptions:transcribe$/, answer: transcribe }],
}
