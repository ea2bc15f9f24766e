import { z } from 'zod'
import { audioListMax } from '../../core/limits/audio.ts'
import { audioCommonFields, boundedText } from '../transcription/audio-fields.ts'
import { audioFormatSchema, audioUrlSchema } from '../transcription/transcription-request.ts'

/** The contract's bounds: code points of a clip's transcript, and the length of an image address. */
const referenceTextLengthMax = 10_000
const imageUrlLengthMax = 2_048

const clip = z.object({
  type: z.literal('input_audio'),
  input_audio: z
    .object(
      {
        data: z.string({ error: 'must be a base64 string' }).optional().describe('Base64, or a data URL.'),
        url: audioUrlSchema.optional(),
        format: audioFormatSchema.optional(),
      },
      { error: 'must be an object with `data` or `url`' },
    )
    .refine((audio) => (audio.data === undefined) !== (audio.url === undefined), {
      error: 'needs either `data` or `url`, and not both',
    }),
})

const transcript = z.object({ type: z.literal('text'), text: boundedText(0, referenceTextLengthMax) })

const image = z.object({
  type: z.literal('image_url'),
  image_url: z.object(
    {
      url: z
        .string({ error: 'must be a string' })
        .max(imageUrlLengthMax, { error: `must have at most ${imageUrlLengthMax} characters` })
        .refine((url) => /^(?:https?:|data:image\/)/i.test(url) && URL.canParse(url), {
          error: 'must be an http or https address',
        }),
    },
    { error: 'must be an object with `url`' },
  ),
})

const referencePart = z.discriminatedUnion('type', [clip, transcript, image], {
  error: 'must be an object whose `type` is "input_audio", "text" or "image_url"',
})

/** One part of `input_references`, not yet checked against its neighbours. */
export type ReferencePart = z.infer<typeof referencePart>

const speedProblem = { error: 'must be a number above 0; 1 is the normal speed' }

/** The JSON body of a speech request. */
export const speechRequestSchema = z.object({
  ...audioCommonFields,
  input: z
    .string({ error: 'must be a string' })
    .min(1, { error: 'must not be empty; it is the text to speak' })
    // For text without a word, some providers fail and others send no sound, which would count against the provider.
    .regex(/\S/, { error: 'must have more than white space; it is the text to speak' })
    .describe('The text to speak.'),
  voice: z
    .string({ error: 'must be a string' })
    .min(1, { error: 'must not be empty; omit it for the default voice' })
    // A URL cannot carry half of a surrogate pair, and some providers take the voice in the path.
    .refine((voice) => voice.isWellFormed(), { error: 'must be whole Unicode characters' })
    .optional(),
  // A client that asked for events would read sound as events.
  stream_format: z
    .literal('audio', { error: 'must be "audio": sound is streamed as it is, not as events' })
    .nullish()
    .describe('Only `audio`: sound is streamed as it is.'),
  response_format: z
    .enum(['mp3', 'pcm'], { error: 'must be "mp3" or "pcm"' })
    .optional()
    .describe('`pcm`, the default, is 16-bit little-endian mono at 24,000 Hz.'),
  speed: z.number(speedProblem).positive(speedProblem).optional(),
  input_references: z
    .array(referencePart, { error: 'must be an array' })
    .max(audioListMax, { error: `must have at most ${audioListMax} parts` })
    .optional(),
})

/** The body at the address where OpenAI's own formats apply. */
export const openAiSpeechSchema = speechRequestSchema.extend({
  response_format: z
    .enum(['mp3', 'wav', 'pcm', 'opus', 'aac', 'flac'], {
      error: 'must be "mp3", "wav", "pcm", "opus", "aac" or "flac"',
    })
    .optional(),
})
