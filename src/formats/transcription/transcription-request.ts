import { z } from 'zod'
import {
  contentTypeOf,
  type DecodedTranscription,
  fileNameOf,
  type LocalAudio,
  type RemoteAudio,
} from '../../canonical/audio.ts'
import type { Preferences, TranscriptionCall } from '../../canonical/call.ts'
import type { AudioFeature, Demand } from '../../canonical/usage.ts'
import { fieldError, GatewayError } from '../../core/errors.ts'
import { audioListMax } from '../../core/limits/audio.ts'
import { audioCommonFields, type AudioHeaders, boundedText, chooseSession } from './audio-fields.ts'
import { tidyKeyterms } from './keyterms.ts'
import { formatOfFileName } from './received-audio.ts'
import { parsePreferences } from '../preferences.ts'
import { chooseTranscriptMedia } from './transcript-media.ts'

/** The contract's bounds for key terms: how many, and code points of each. */
const keytermsMax = 100
const keytermLengthMax = 100
/** The contract's bound for an audio address. */
const audioUrlLengthMax = 8_000

const granularities = z
  .array(z.enum(['word', 'segment'], { error: 'must be "word" or "segment"' }), {
    error: 'must be an array of "word" and "segment"',
  })
  .max(audioListMax, { error: `must have at most ${audioListMax} entries` })

const settings = {
  ...audioCommonFields,
  language: z
    .string({ error: 'must be a string' })
    .regex(/^[A-Za-z]{2}$/, {
      error: 'must be an ISO-639-1 code of two letters, such as "en"; omit it to detect the language',
    })
    .optional(),
  temperature: z
    .number({ error: 'must be a number from 0 to 1' })
    .min(0, { error: 'must be a number from 0 to 1' })
    .max(1, { error: 'must be a number from 0 to 1' })
    .optional(),
  response_format: z
    .string({ error: 'must be a string' })
    .refine((format) => format === 'json' || format === 'verbose_json')
    .meta({ enum: ['json', 'verbose_json'], default: 'json' })
    .optional(),
  timestamp_granularities: granularities.optional(),
  diarize: z.boolean({ error: 'must be true or false' }).optional(),
  stream: z
    .boolean({ error: 'must be true or false' })
    .nullish()
    .describe(
      'Answers with events, `transcript.text.delta` and `transcript.text.done`, and with comments while the transcript is made.',
    ),
  keyterms: z
    .array(boundedText(1, keytermLengthMax), { error: 'must be an array of strings' })
    .max(keytermsMax, { error: `must have at most ${keytermsMax} terms` })
    .optional(),
}

/** A public URL; the code that fetches it checks that it is public. */
export const audioUrlSchema = z
  .string({ error: 'must be a string' })
  .max(audioUrlLengthMax, { error: `must have at most ${audioUrlLengthMax} characters` })
  .refine(isHttpUrl, { error: 'must be an http or https address' })

/** A short format name. It goes into headers and file names, so its alphabet is restricted. */
export const audioFormatSchema = z
  .string({ error: 'must be a string' })
  .regex(/^[a-zA-Z0-9][a-zA-Z0-9+._-]{0,15}$/, {
    error: 'must be a short format name, such as "wav" or "mp3"',
  })

const inputAudio = z.object(
  {
    data: z.string({ error: 'must be a base64 string' }).optional(),
    url: audioUrlSchema.optional(),
    format: audioFormatSchema.optional(),
  },
  { error: 'must be an object with `data` and `format`, or with `url`' },
)

/** The JSON body. `input_audio.data` is decoded on arrival and is an empty string here. */
export const transcriptionRequestSchema = z.object({ ...settings, input_audio: inputAudio })

/** The text parts of the multipart form, already converted to values; `file` is a binary part next to them. */
export const transcriptionFormSchema = z.object({ ...settings, source_url: audioUrlSchema.optional() })

/** The fields of either body that are not the audio. */
export type TranscriptionSettings = Omit<z.infer<typeof transcriptionFormSchema>, 'source_url'>

/**
 * The contract's message names the format that the caller sent. Checked before the schema, which has no message for it.
 */
export function requireResponseFormat(
  fields: unknown,
  { isOpenAiDialect }: Pick<AudioHeaders, 'isOpenAiDialect'>,
): void {
  const format = responseFormatIn(fields)
  if (format === 'json' || format === 'verbose_json' || typeof format !== 'string') return
  throw new GatewayError(
    'invalid_request',
    `Unsupported response_format ${JSON.stringify(format.slice(0, 64))}. Only ${isOpenAiDialect ? '"json", "text", "srt", "vtt"' : '"json"'} and "verbose_json" are supported.`,
    { param: 'response_format' },
  )
}

function responseFormatIn(fields: unknown): unknown {
  return typeof fields === 'object' && fields !== null && 'response_format' in fields
    ? fields.response_format
    : undefined
}

const mediaOfFormat: Readonly<Record<string, string>> = {
  text: 'text/plain',
  srt: 'application/x-subrip',
  vtt: 'text/vtt',
}

/**
 * A request in the contract's form. At the address of OpenAI's own formats, `text`, `srt` and `vtt` replace the
 * contract's `Accept`, and the `Accept` that OpenAI's clients always send is ignored.
 */
export function inContract(
  fields: unknown,
  headers: AudioHeaders,
): { fields: unknown; headers: AudioHeaders } {
  if (!headers.isOpenAiDialect) return { fields, headers }
  const format = responseFormatIn(fields)
  const media = typeof format === 'string' ? mediaOfFormat[format] : undefined
  if (media === undefined) return { fields, headers: { ...headers, accept: null } }
  const { response_format: _, ...others } = fields as Record<string, unknown>
  return { fields: others, headers: { ...headers, accept: media } }
}

/** Checks rules across fields and makes the call. The duration is measured later. */
export function toTranscriptionCall(
  wire: TranscriptionSettings,
  audio: LocalAudio | RemoteAudio,
  headers: AudioHeaders,
  dropped: readonly string[],
): Omit<DecodedTranscription, 'dispose'> {
  const responseFormat = wire.response_format === 'verbose_json' ? 'verbose_json' : 'json'
  if (wire.diarize === true && responseFormat === 'json') {
    throw fieldError(
      'diarize',
      'needs `response_format` "verbose_json", because `json` has no words to label.',
    )
  }
  const isStreamed = wire.stream === true
  // An explicit `json`, or events, decide the media type; otherwise `Accept` does. `verbose_json` only adds members.
  const isJson = wire.response_format === 'json' || isStreamed
  const media = isJson ? 'json' : chooseTranscriptMedia(headers.accept)
  const wantsTimes = responseFormat === 'verbose_json' || media === 'vtt' || media === 'srt'
  const { preferences, dropped: droppedPreferences } = parsePreferences(wire.provider)
  const keyterms = tidyKeyterms(wire.keyterms ?? [])
  const call: TranscriptionCall = {
    kind: 'transcription',
    operation: 'transcription',
    model: wire.model,
    fallbackModels: [],
    preferences,
    parameters: sentParameters({ ...wire, keyterms }),
    demand: {
      inputTokens: 0,
      outputTokensMax: null,
      choices: 1,
      audioMilliseconds: null,
      characters: 0,
      ...askedFeatures({ ...wire, keyterms }, preferences),
    },
    sessionId: chooseSession(wire.session_id, headers),
    userId: wire.user ?? null,
    trace: wire.trace ?? null,
    dropped: [...dropped, ...droppedPreferences],
    audio,
    measuredMilliseconds: null,
    language: wire.language?.toLowerCase() ?? null,
    temperature: wire.temperature ?? null,
    responseFormat: wantsTimes ? 'verbose_json' : 'json',
    granularities: responseFormat === 'verbose_json' ? [...new Set(wire.timestamp_granularities)] : [],
    diarize: wire.diarize ?? false,
    keyterms,
    ...(isStreamed ? { stream: true as const } : {}),
  }
  return { call, media, isStreamed }
}

/** The features of the request that a provider may charge for besides the audio; empty for nearly all. */
function askedFeatures(
  { diarize = false, keyterms = [] }: TranscriptionSettings,
  { options }: Preferences,
): Pick<Demand, 'audioFeatures' | 'askedAt'> {
  const features: AudioFeature[] = [
    ...(diarize ? (['diarize'] as const) : []),
    ...(keyterms.length > 0 ? (['keyterms'] as const) : []),
  ]
  const askedAt: Partial<Record<AudioFeature, readonly string[]>> = {}
  for (const [feature, names] of optionNames) {
    const slugs = Object.keys(options).filter((slug) => names.some((name) => isWanted(options[slug]?.[name])))
    if (slugs.length > 0) askedAt[feature] = slugs
  }
  return {
    ...(features.length > 0 ? { audioFeatures: features } : {}),
    ...(Object.keys(askedAt).length > 0 ? { askedAt } : {}),
  }
}

/**
 * The providers' names for features that no member of the contract asks for, so that only a provider's own options do.
 */
const optionNames: readonly (readonly [AudioFeature, readonly string[]])[] = [
  ['entities', ['detect_entities', 'entity_detection', 'named_entity_recognition']],
  ['transcript_edit', ['transcript_edit']],
  ['speaker_roles', ['detect_speaker_roles']],
  ['channels', ['multichannel', 'use_multi_channel']],
]

function isWanted(option: unknown): boolean {
  return option !== undefined && option !== null && option !== false && option !== 'false'
}

/** The audio behind a URL before it is fetched. */
export function remoteAudio(
  url: string,
  { field, statedFormat }: Pick<RemoteAudio, 'field' | 'statedFormat'>,
): RemoteAudio {
  const format = statedFormat?.toLowerCase() ?? formatOfFileName(new URL(url).pathname) ?? ''
  return {
    url,
    field,
    statedFormat,
    format,
    fileName: fileNameOf(format),
    contentType: contentTypeOf(format),
    sizeBytes: 0,
    open: () => {
      throw new Error('audio at an address was opened before it was fetched')
    },
  }
}

const optionalParameters = [
  'language',
  'temperature',
  'response_format',
  'timestamp_granularities',
  'diarize',
  'keyterms',
] as const

/** `diarize: false` and an empty list of `keyterms` ask for nothing, so they exclude no endpoint. */
function sentParameters(wire: TranscriptionSettings): string[] {
  return optionalParameters.filter((name) => {
    if (name === 'diarize') return wire.diarize === true
    if (name === 'keyterms') return (wire.keyterms?.length ?? 0) > 0
    return wire[name] !== undefined
  })
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}
