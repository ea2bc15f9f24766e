import type { Faults } from '../../faults.ts'
import type { JsonObject } from '../../json.ts'
import type { SpokenWord } from '../../recognise.ts'
import { entitiesIn } from '../entities.ts'
import { type Heard, joined, punctuated, type SpokenTurn, turnsOf } from '../hearing.ts'
import { type AudioJob, type JobStage, withLosses } from '../jobs.ts'
import type { TranscriptRequest } from './request.ts'

const statusOf = { queued: 'queued', running: 'processing', ended: 'completed' } as const
const labels = { name: 'person_name', place: 'location', date: 'date', organization: 'organization' } as const

/** A transcript before anything was heard: all results are null. */
export function unheard(job: AudioJob, stage: JobStage): JsonObject {
  const request = job.request as TranscriptRequest
  return {
    id: job.id,
    audio_url: request.audioUrl,
    status: statusOf[stage],
    speech_model: null,
    speech_models: request.sent['speech_models'] ?? null,
    speech_model_used: null,
    language_code: request.language,
    language_detection: request.language === null,
    language_confidence: null,
    speaker_labels: request.speakerLabels,
    entity_detection: request.entities,
    punctuate: true,
    format_text: true,
    text: null,
    words: null,
    utterances: null,
    entities: null,
    confidence: null,
    audio_duration: null,
    webhook_url: null,
    error: null,
  }
}

/** A failed job; the HTTP status of the answer is still 200. */
export function failed(job: AudioJob, error: string): JsonObject {
  return { ...unheard(job, 'ended'), status: 'error', error }
}

/** The rest of a transcript whose content was deleted. */
export function deleted(job: AudioJob, stage: JobStage): JsonObject {
  return { ...unheard(job, stage), audio_url: deletedAddress, text: 'Deleted by user.' }
}

/** Replaces a deleted URL, also in the listing. */
export const deletedAddress = 'http://deleted_by_user'

/** A transcript that is done. Its times are milliseconds, its duration whole seconds. */
export function completed(job: AudioJob, { recognition, seconds }: Heard, faults: Faults): JsonObject {
  const request = job.request as TranscriptRequest
  const turns = turnsOf(recognition)
  const spoken = turns.flatMap((turn) => turn.words)
  return {
    ...unheard(job, 'ended'),
    speech_model_used: request.model,
    language_code: request.language ?? 'en_us',
    ...(request.language === null ? { language_confidence: 0.9941 } : {}),
    text: turns.map(({ words }) => punctuated(words).join(' ')).join(' '),
    words: withLosses(
      turns.flatMap((turn) => wordsOf(turn, request)),
      faults,
    ),
    utterances: request.speakerLabels ? turns.map((turn) => utterance(turn, request)) : null,
    entities: request.entities ? entities(spoken) : null,
    confidence: spoken.length === 0 ? 0 : mean(spoken),
    audio_duration: Math.round(seconds),
  }
}

function speakerOf({ speaker }: SpokenTurn): string {
  return String.fromCharCode(65 + speaker)
}

const ms = (seconds: number) => Math.round(seconds * 1000)

function wordsOf(turn: SpokenTurn, { speakerLabels }: TranscriptRequest): JsonObject[] {
  const shown = punctuated(turn.words)
  return turn.words.map(({ start, end, confidence }, at) => ({
    text: shown[at],
    start: ms(start),
    end: ms(end),
    confidence,
    speaker: speakerLabels ? speakerOf(turn) : null,
  }))
}

function utterance(turn: SpokenTurn, request: TranscriptRequest): JsonObject {
  return {
    speaker: speakerOf(turn),
    text: punctuated(turn.words).join(' '),
    start: ms(turn.words[0]?.start ?? 0),
    end: ms(turn.words.at(-1)?.end ?? 0),
    confidence: mean(turn.words),
    words: wordsOf(turn, request),
  }
}

/** The positions of entities are times in the sound, not offsets in the text. */
function entities(words: readonly SpokenWord[]): JsonObject[] {
  return entitiesIn(words).map(({ kind, startWord, endWord }) => {
    const covered = words.slice(startWord, endWord)
    return {
      entity_type: labels[kind],
      text: joined(covered),
      start: ms(covered[0]?.start ?? 0),
      end: ms(covered.at(-1)?.end ?? 0),
    }
  })
}

function mean(words: readonly SpokenWord[]): number {
  return words.reduce((sum, { confidence }) => sum + confidence, 0) / Math.max(1, words.length)
}
