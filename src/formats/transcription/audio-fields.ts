import { z } from 'zod'
import { GatewayError } from '../../core/errors.ts'
import { droppedNamesMax } from '../../core/limits/batches.ts'
import { modelIdLengthMax, sessionIdLengthMax, userIdLengthMax } from '../../core/limits/http.ts'
import { preferencesSchema } from '../preferences.ts'

/** The length of a text in code points, so that an emoji counts as one character, as a person counts. */
export function codePoints(text: string): number {
  // Most texts are ASCII, and this test is a dozen times faster than a walk.
  if (Buffer.byteLength(text) === text.length) return text.length
  let count = 0
  for (const _ of text) count += 1
  return count
}

/** A string of `min` to `max` code points. */
export function boundedText(min: number, max: number): z.ZodType<string, string> {
  const problem = `must have ${min > 0 ? `${min} to ` : 'at most '}${max} characters`
  return z
    .string({ error: 'must be a string' })
    .refine((text) => text.length >= min && isUpTo(max, text), { error: problem })
    .meta({ minLength: min, maxLength: max })
}

/** A character has one or two UTF-16 units, so a very long text is refused without counting. */
function isUpTo(max: number, text: string): boolean {
  return text.length <= max || (text.length <= max * 2 && codePoints(text) <= max)
}

/** The fields that transcription and speech share; providers never get the last three. */
export const audioCommonFields = {
  model: boundedText(1, modelIdLengthMax).describe('Model id, `author/slug`, optionally with a variant.'),
  provider: preferencesSchema.nullish(),
  session_id: boundedText(0, sessionIdLengthMax)
    .optional()
    .describe('Groups requests for observability; wins over the x-session-id header.'),
  user: boundedText(0, userIdLengthMax).optional().describe('The end user, for observability.'),
  trace: z
    .record(z.string(), z.unknown(), { error: 'must be an object' })
    .optional()
    .describe(
      'trace_id, trace_name, span_name, generation_name, parent_span_id and any metadata of your own.',
    ),
}

/** The headers that add to a body. */
export interface AudioHeaders {
  sessionId: string | null
  accept: string | null
  /** True at the address where OpenAI's own formats and defaults apply; otherwise absent. */
  isOpenAiDialect?: true
}

/** The body's session wins, and the header is then not read at all. A header above the bound is refused. */
export function chooseSession(
  fromBody: string | undefined,
  headers: Pick<AudioHeaders, 'sessionId'>,
): string | null {
  if (fromBody !== undefined) return fromBody
  if (headers.sessionId !== null && codePoints(headers.sessionId) > sessionIdLengthMax) {
    throw new GatewayError(
      'invalid_request',
      `The x-session-id header is longer than ${sessionIdLengthMax} characters. Shorten it.`,
      { param: 'x-session-id' },
    )
  }
  return headers.sessionId
}

/** Members of `fields` that are missing in `known`, for the list of dropped members. */
export function unknownMembers(
  fields: unknown,
  known: Readonly<Record<string, unknown>>,
  prefix = '',
): string[] {
  if (typeof fields !== 'object' || fields === null) return []
  return Object.keys(fields)
    .filter((name) => !Object.hasOwn(known, name))
    .slice(0, droppedNamesMax)
    .map((name) => prefix + name.slice(0, 64))
}
