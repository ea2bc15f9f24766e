import { isLocalAudio, type AudioRequirement, type LocalAudio } from '../../canonical/audio.ts'
import type { TranscriptionCall } from '../../canonical/call.ts'
import type { AudioCapabilities, Endpoint } from '../../canonical/endpoint.ts'
import { GatewayError } from '../../core/errors.ts'
import { keytermProblem } from './keyterms.ts'
import { callerLanguages, languageAmong } from './told-language.ts'

/** What the call needs of an endpoint, in the order in which a caller should read the reasons. */
export function transcriptionRequirements(call: TranscriptionCall): AudioRequirement[] {
  const requirements: AudioRequirement[] = []
  const { audio, keyterms, language, measuredMilliseconds } = call
  if (call.diarize) requirements.push(diarize)
  if (keyterms.length > 0) requirements.push(keytermsTaken(keyterms))
  if (call.granularities.includes('word') && !call.diarize) requirements.push(wordTimes)
  if (language !== null) requirements.push(languageKnown(language))
  if (!isLocalAudio(audio)) return requirements
  requirements.push(formatTaken(audio), uploadSize(audio))
  if (measuredMilliseconds !== null) requirements.push(lengthTaken(measuredMilliseconds, audio))
  return requirements
}

function has(is: (audio: AudioCapabilities) => boolean): AudioRequirement['isMet'] {
  return ({ audio }) => audio !== null && is(audio)
}

/** The contract's words; clients compare them. */
function unsupported(name: 'diarize' | 'keyterms', more = ''): GatewayError {
  return refusal(
    name,
    `The selected model does not support ${name}. Remove the field or choose a model whose provider supports it.${more}`,
  )
}

function refusal(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param })
}

const diarize: AudioRequirement = {
  name: 'diarize',
  isMet: has((audio) => audio.diarize),
  refuse(_, endpoints) {
    const tellsSegments = endpoints.some(({ audio }) => audio?.segmentSpeakers === true)
    const more = ' It tells the speakers of segments without it: ask for `response_format` "verbose_json".'
    return unsupported('diarize', tellsSegments ? more : '')
  },
}

function keytermsTaken(keyterms: readonly string[]): AudioRequirement {
  const problemAt = ({ audio }: Endpoint) =>
    audio?.keyterms ? keytermProblem(keyterms, audio.keyterms) : null
  return {
    name: 'keyterms',
    isMet: (endpoint) => (endpoint.audio?.keyterms ?? null) !== null && problemAt(endpoint) === null,
    refuse(model, endpoints) {
      const closest = endpoints.find((endpoint) => problemAt(endpoint) !== null)
      if (closest === undefined) return unsupported('keyterms')
      const provider = closest.deployment.providerName
      return refusal(
        'keyterms',
        `No provider of ${model} takes these keyterms. Of ${provider}: ${problemAt(closest)}. Shorten the list or the term.`,
      )
    },
  }
}

const wordTimes: AudioRequirement = {
  name: 'timestamp_granularities',
  isMet: has((audio) => audio.wordTimes),
  refuse: () =>
    refusal(
      'timestamp_granularities',
      'The selected model does not support timestamp_granularities "word". Ask for "segment", or choose a model whose provider times words.',
    ),
}

function languageKnown(language: string): AudioRequirement {
  return {
    name: 'language',
    isMet: has((audio) => languageAmong(language, audio) !== null),
    refuse(model, endpoints) {
      const named = endpoints.flatMap(({ audio }) => (audio === null ? [] : callerLanguages(audio)))
      const known = [...new Set(named)].toSorted()
      return refusal(
        'language',
        `No provider of ${model} transcribes the language "${language}". Send one of ${known.join(', ')}, or omit it where the model detects it.`,
      )
    },
  }
}

/** Headerless samples are taken by every endpoint that takes a WAV file. */
function formatTaken({ format, formatField }: LocalAudio): AudioRequirement {
  const isTaken = (formats: readonly string[]) =>
    formats.includes(format) || (format === 'pcm' && formats.includes('wav'))
  return {
    name: 'format',
    isMet: has(({ uploadFormats }) => uploadFormats === null || isTaken(uploadFormats)),
    refuse(model, endpoints) {
      const taken = [...new Set(endpoints.flatMap(({ audio }) => audio?.uploadFormats ?? []))]
      return refusal(
        formatField,
        `No provider of ${model} takes audio in the format "${format}". Convert it to one of ${taken.join(', ')}.`,
      )
    },
  }
}

function uploadSize({ sizeBytes, field }: LocalAudio): AudioRequirement {
  return {
    name: 'file',
    isMet: has(({ uploadBytesMax }) => (uploadBytesMax ?? Number.POSITIVE_INFINITY) >= sizeBytes),
    refuse: (model) =>
      new GatewayError(
        'payload_too_large',
        `The audio has ${sizeBytes} bytes, more than any provider of ${model} takes. Compress it to mp3 or ogg, or split it.`,
        { param: field },
      ),
  }
}

function lengthTaken(milliseconds: number, { field }: LocalAudio): AudioRequirement {
  return {
    name: 'duration',
    isMet: has(
      ({ audioMillisecondsMax }) => (audioMillisecondsMax ?? Number.POSITIVE_INFINITY) >= milliseconds,
    ),
    refuse(model, endpoints) {
      const longest = Math.max(...endpoints.map(({ audio }) => audio?.audioMillisecondsMax ?? 0))
      return new GatewayError(
        'payload_too_large',
        `The audio lasts ${Math.ceil(milliseconds / 1000)} seconds, longer than any provider of ${model} takes. Split it into pieces of at most ${Math.floor(longest / 1000)} seconds.`,
        { param: field },
      )
    },
  }
}
