import { asFailure } from '../../api/failure.ts'
import type { Schemas } from '../../api/openapi.gen.ts'
import { upload } from '../../api/upload.ts'
import type { TimedText } from '../../values/subtitles.ts'

export interface Transcript {
  text: string
  language: string | null
  seconds: number | null
  words: readonly TimedText[]
  segments: readonly TimedText[]
  cost: number | null
  generationId: string | null
  provider: string | null
  totalMs: number
  /** What the model does not give, although it was asked for. */
  without: readonly string[]
  /** Fields that the provider could not take. */
  dropped: readonly string[]
  /** The fields that were sent, for the code. */
  fields: readonly (readonly [string, string])[]
}

export interface TranscriptionOptions {
  model: string
  language: string
  keyterms: string
  isDiarized: boolean
}

type Fields = readonly (readonly [string, string])[]

/** The forms of a call, the fullest first: not every model gives the times of words. */
function formsOf({
  model,
  language,
  keyterms,
  isDiarized,
}: TranscriptionOptions): { fields: Fields; without: string[] }[] {
  const common: Fields = [
    ['model', model],
    ...(language === '' ? [] : [['language', language] as const]),
    ...(isDiarized ? [['diarize', 'true'] as const] : []),
    ...keyterms
      .split(',')
      .map((term) => term.trim())
      .filter((term) => term !== '')
      .map((term) => ['keyterms', term] as const),
  ]
  const verbose: Fields = [...common, ['response_format', 'verbose_json']]
  return [
    {
      fields: [...verbose, ['timestamp_granularities', 'word'], ['timestamp_granularities', 'segment']],
      without: [],
    },
    { fields: verbose, without: ['the times of words'] },
    { fields: common, without: ['the times of words and sentences'] },
  ]
}

/** The fields whose refusal means that the model does not have times. */
const timeFields: ReadonlySet<string> = new Set(['timestamp_granularities', 'response_format'])

/** Sends a recording, again with fewer wishes where the model does not give times. */
export async function transcribe(
  file: File,
  options: TranscriptionOptions,
  given: { signal: AbortSignal; onProgress: (sent: number, total: number) => void },
): Promise<Transcript> {
  const forms = formsOf(options)
  for (const [index, { fields, without }] of forms.entries()) {
    const form = new FormData()
    for (const [name, value] of fields) form.append(name, value)
    form.append('file', file, file.name)
    const startMs = performance.now()
    try {
      const answer = await upload('/audio/transcriptions', form, given)
      return parse(answer.text, {
        generationId: answer.headers.get('x-generation-id'),
        provider: answer.headers.get('x-provider-name'),
        totalMs: performance.now() - startMs,
        without,
        fields,
      })
    } catch (error) {
      if (given.signal.aborted || index === forms.length - 1 || !isAboutTimes(error)) throw error
    }
  }
  throw new Error('unreachable: the last form answers or throws')
}

function isAboutTimes(error: unknown): boolean {
  const { status, param, message } = asFailure(error)
  if (status < 400 || status >= 500) return false
  if (param !== null) return timeFields.has(param.replace(/\[.*/, ''))
  return [...timeFields].some((name) => message.includes(name))
}

type Answer = Schemas['Transcription']

function parse(
  text: string,
  known: Pick<Transcript, 'generationId' | 'provider' | 'totalMs' | 'without' | 'fields'>,
): Transcript {
  const body = JSON.parse(text) as Answer
  return {
    ...known,
    text: body.text,
    language: body.language ?? null,
    seconds: body.duration ?? body.usage?.seconds ?? null,
    words: (body.words ?? []).map((word) => toTimed(word, word.word)),
    segments: (body.segments ?? []).map((segment) => toTimed(segment, segment.text)),
    cost: body.usage?.cost ?? null,
    dropped: body.headrace_metadata?.dropped ?? [],
  }
}

type Piece = Pick<NonNullable<Answer['words']>[number], 'start' | 'end' | 'speaker' | 'speaker_label'>

/** A provider's own label of a speaker comes before the number that the gateway gives. */
function toTimed({ start, end, speaker, speaker_label: label }: Piece, text: string): TimedText {
  return { start, end, text, speaker: label ?? (speaker === undefined ? null : String(speaker)) }
}
