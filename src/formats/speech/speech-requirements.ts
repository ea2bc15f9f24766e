import type { AudioRequirement } from '../../canonical/audio.ts'
import type { SpeechCall } from '../../canonical/call.ts'
import {
  voiceAt,
  type AudioCapabilities,
  type Endpoint,
  type PassedFormat,
} from '../../canonical/endpoint.ts'
import { GatewayError } from '../../core/errors.ts'

/** What the call needs of an endpoint, in the order in which a caller should read the reasons. */
export function speechRequirements(
  call: SpeechCall,
  modelsThatMake: (format: PassedFormat) => readonly string[] = () => [],
): AudioRequirement[] {
  const { references, voice, speed, passedFormat } = call
  const requirements: AudioRequirement[] = []
  const add = (
    name: string,
    has: (audio: AudioCapabilities) => boolean,
    refuse: AudioRequirement['refuse'],
  ) => {
    requirements.push({ name, isMet: ({ audio }) => audio !== null && has(audio), refuse })
  }
  if (references.length > 0) {
    add('input_references', (audio) => canUse(audio, call), referencesRefused(call))
  }
  if (passedFormat !== undefined) requirements.push(passedRequirement(passedFormat, modelsThatMake))
  if (speed !== 1) {
    add(
      'speed',
      ({ speed: range }) => range !== null && speed >= range.min && speed <= range.max,
      (model, endpoints) =>
        refusal(
          'speed',
          `${model} cannot speak at speed ${speed}${rangesOf(endpoints)}. Omit \`speed\` or set it to 1, or choose another model.`,
        ),
    )
  }
  if (voice === null && references.length === 0) {
    add(
      'voice',
      (audio) => audio.defaultVoice !== null || audio.isVoiceOptional,
      () => refusal('voice', 'An explicit voice is required for this TTS provider.'),
    )
  } else if (voice !== null) {
    add(
      'voice',
      (audio) => voiceAt(voice, audio) !== null,
      (model) =>
        refusal(
          'voice',
          `${model} has no \`voice\` of that name. GET /models?output_modalities=all lists its \`supported_voices\`.`,
        ),
    )
  }
  const { characters } = call.demand
  add(
    'input',
    (audio) => (audio.inputCharactersMax ?? Number.POSITIVE_INFINITY) >= characters,
    (model, endpoints) =>
      new GatewayError(
        'string_too_long',
        `\`input\` has ${characters} characters, more than the ${mostOf(endpoints)} that ${model} speaks at once. Split the text.`,
        { param: 'input' },
      ),
  )
  return requirements
}

function passedRequirement(
  format: PassedFormat,
  modelsThatMake: (format: PassedFormat) => readonly string[],
): AudioRequirement {
  return {
    name: 'response_format',
    isMet: ({ audio }) => audio?.passedFormats?.includes(format) === true,
    refuse: (model) => {
      const makers = modelsThatMake(format)
      const others = makers.length === 0 ? '' : `, or a model such as ${makers.slice(0, 3).join(', ')}`
      return refusal(
        'response_format',
        `No provider of ${model} makes ${format}: ask for "mp3", "wav" or "pcm", which every model has${others}.`,
      )
    },
  }
}

/** The speed ranges of these endpoints; empty when they have none. */
function rangesOf(endpoints: readonly Endpoint[]): string {
  const ranges = endpoints.flatMap(({ audio }) => audio?.speed ?? [])
  const told = new Set(ranges.map(({ min, max }) => `from ${min} to ${max}`))
  return told.size === 0 ? '' : `, only at one ${[...told].join(' or ')}`
}

/** The length, in characters, of the longest text that any of these endpoints takes. */
function mostOf(endpoints: readonly Endpoint[]): number {
  return Math.max(0, ...endpoints.map(({ audio }) => audio?.inputCharactersMax ?? 0))
}

function canUse(audio: AudioCapabilities, { references }: SpeechCall): boolean {
  if (references[0]?.type === 'image') return audio.imageReference
  const isWithin = references.length === 1 || audio.multipleReferences
  return audio.voiceCloning && isWithin && (isTranscribed(references) || !audio.referenceTranscripts)
}

/** An empty transcript counts as no transcript. */
function isTranscribed(references: SpeechCall['references']): boolean {
  return references.every(({ transcript }) => transcript !== null && transcript !== '')
}

function referencesRefused({ references }: SpeechCall): AudioRequirement['refuse'] {
  const clips = `${references.length} audio clip(s)${isTranscribed(references) ? '' : ' without a transcript of each'}`
  const kind = references[0]?.type === 'image' ? 'an image' : clips
  return (model) =>
    new GatewayError(
      'no_matching_endpoint',
      `No endpoint of ${model} supports \`input_references\` with ${kind}. Remove the field or choose a model that supports it.`,
      { param: 'input_references' },
    )
}

function refusal(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', message, { param })
}
