import { z } from 'zod'

const segment = z.looseObject({
  id: z.int(),
  start: z.number(),
  end: z.number(),
  text: z.string(),
  speaker: z.int().optional(),
  speaker_label: z.string().optional(),
})

const word = z.looseObject({
  word: z.string(),
  start: z.number(),
  end: z.number(),
  confidence: z.number().min(0).max(1).optional(),
  speaker: z.int().optional(),
  speaker_label: z.string().optional(),
})

/** Answer of a transcription; everything but `text` and `usage` only with `verbose_json`. */
export const transcriptionSchema = z
  .object({
    text: z.string(),
    usage: z
      .object({
        cost: z.number().optional(),
        input_tokens: z.int().optional(),
        output_tokens: z.int().optional(),
        total_tokens: z.int().optional(),
        seconds: z.number().optional(),
      })
      .optional(),
    task: z.string().optional(),
    language: z.string().optional(),
    duration: z.number().optional(),
    language_confidence: z.number().min(0).max(1).optional(),
    confidence: z.number().min(0).max(1).optional(),
    segments: z.array(segment).optional(),
    words: z.array(word).optional(),
    entities: z
      .array(z.object({ text: z.string(), type: z.string(), start_char: z.int(), end_char: z.int() }))
      .optional(),
    headrace_metadata: z
      .looseObject({ dropped: z.array(z.string()).describe('Members that were ignored.') })
      .optional(),
  })
  .meta({ id: 'Transcription' })

/** The data of one event of a streamed transcription. */
export const transcriptEventSchema = z
  .union([
    z.looseObject({ type: z.literal('transcript.text.delta'), delta: z.string() }),
    z.looseObject({
      type: z.literal('transcript.text.segment'),
      id: z.string(),
      start: z.number(),
      end: z.number(),
      text: z.string(),
      speaker: z.string(),
    }),
    z
      .looseObject({ type: z.literal('transcript.text.done'), text: z.string() })
      .describe('With the members that the whole answer would have.'),
    z
      .looseObject({ type: z.literal('error'), error: z.looseObject({ code: z.int(), message: z.string() }) })
      .describe('A failure after the head has gone out; ends the stream.'),
  ])
  .meta({ id: 'TranscriptEvent' })
