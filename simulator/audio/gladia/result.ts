import type { Faults } from '../../faults.ts'
import type { JsonObject } from '../../json.ts'
import { entitiesIn } from '../entities.ts'
import { type Heard, joined, punctuated, type SpokenTurn, turnsOf } from '../hearing.ts'
import { withLosses } from '../jobs.ts'

/** The results besides the words that a job was asked for. */
export interface GladiaRequest {
  audioUrl: string
  model: string
  language: string | null
  diarization: boolean
  entities: boolean
}

const labels = { name: 'NAME', place: 'LOCATION', date: 'DATE', organization: 'ORGANIZATION' } as const

/** The result of a finished job. Words begin with the space before them, and only utterances have speakers. */
export function resultOf(
  request: GladiaRequest,
  { recognition, seconds }: Heard,
  faults: Faults,
): JsonObject {
  const turns = turnsOf(recognition)
  const spoken = turns.flatMap(({ words }) => words)
  const entities = entitiesIn(spoken).map(({ kind, startWord, endWord }) => {
    const covered = spoken.slice(startWord, endWord)
    return {
      entity_type: labels[kind],
      text: joined(covered),
      start: covered[0]?.start ?? 0,
      end: covered.at(-1)?.end ?? 0,
    }
  })
  return {
    metadata: {
      audio_duration: seconds,
      number_of_distinct_channels: 1,
      billing_time: seconds,
      transcription_time: 0.1,
    },
    transcription: {
      full_transcript: turns.map(({ words }) => punctuated(words).join(' ')).join(' '),
      languages: [request.language ?? 'en'],
      utterances: turns.map((turn) => utterance(turn, request, faults)),
    },
    ...(request.entities
      ? {
          named_entity_recognition: {
            success: true,
            is_empty: entities.length === 0,
            results: entities,
            error: null,
          },
        }
      : {}),
  }
}

function utterance(turn: SpokenTurn, request: GladiaRequest, faults: Faults): JsonObject {
  const shown = punctuated(turn.words)
  const words = turn.words.map(({ start, end, confidence }, at) => ({
    word: `${at === 0 ? '' : ' '}${shown[at]}`,
    start,
    end,
    confidence,
  }))
  return {
    start: turn.words[0]?.start ?? 0,
    end: turn.words.at(-1)?.end ?? 0,
    confidence: 0.95,
    channel: 0,
    ...(request.diarization ? { speaker: turn.speaker } : {}),
    text: shown.join(' '),
    language: request.language ?? 'en',
    words: withLosses(words, faults),
  }
}
