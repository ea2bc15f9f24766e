import type { JsonObject } from '../../json.ts'
import type { Recognition, SpokenWord } from '../../recognise.ts'
import { entitiesIn } from '../entities.ts'
import { joined, punctuated, type SpokenTurn, turnsOf } from '../hearing.ts'
import { requestIdOf } from '../request-id.ts'
import type { ListenRequest } from './request.ts'

/** The parts of an answer besides the words. */
export interface ListenFacts {
  seconds: number
  sha256: string
  requestId: string
}

const modelId = '2b5b4e7a-1f1c-4c53-9d5a-2f7f7a1c8e01'
const diarizerId = '7c1d0a9e-55b2-4a0d-8c43-9be1f0a3d602'
const modelVersion = '2026-03-05.0'
const labels = { name: 'NAME', place: 'GPE', date: 'DATE', organization: 'ORG' } as const

/** The body of `200 OK`. */
export function listenBody(request: ListenRequest, recognition: Recognition, facts: ListenFacts): JsonObject {
  const turns = turnsOf(recognition)
  const channels = request.multichannel ? 2 : 1
  return {
    metadata: {
      transaction_key: 'deprecated',
      request_id: facts.requestId,
      sha256: facts.sha256,
      created: new Date().toISOString(),
      duration: facts.seconds,
      channels,
      models: [modelId],
      model_info: { [modelId]: { name: request.model, version: modelVersion, arch: archOf(request.model) } },
      ...(request.diarize ? { diarize_info: { model_uuid: diarizerId, arch: 'v2' } } : {}),
    },
    results: {
      channels: Array.from({ length: channels }, (_, channel) => channelOf(request, turns, channel)),
      ...(request.utterances
        ? { utterances: turns.map((turn, index) => utterance(request, turn, index)) }
        : {}),
    },
  }
}

function archOf(model: string): string {
  return model.split('-', 2).join('-')
}

/** With several channels each speaker has a channel. */
function isOn(channel: number, request: ListenRequest, turn: SpokenTurn): boolean {
  return !request.multichannel || turn.speaker === channel
}

function channelOf(request: ListenRequest, turns: readonly SpokenTurn[], channel: number): JsonObject {
  const own = turns.filter((turn) => isOn(channel, request, turn))
  const words = own.flatMap((turn) => turn.words)
  const transcript = own.map((turn) => textOf(request, turn)).join(' ')
  const isDetected = request.detectLanguage && !request.model.startsWith('whisper')
  return {
    alternatives: [
      {
        transcript,
        confidence: words.length === 0 ? 0 : mean(words),
        words: own.flatMap((turn) => wordsOf(request, turn)),
        ...(request.entities ? { entities: entities(words) } : {}),
      },
    ],
    ...(request.detectLanguage ? { detected_language: 'en' } : {}),
    ...(isDetected ? { language_confidence: 0.9873 } : {}),
  }
}

function textOf({ punctuate }: ListenRequest, { words }: SpokenTurn): string {
  return punctuate ? punctuated(words).join(' ') : joined(words)
}

function wordsOf({ punctuate, diarize }: ListenRequest, { words, speaker }: SpokenTurn): JsonObject[] {
  const shown = punctuated(words)
  return words.map(({ word, start, end, confidence }, at) => ({
    word: word.toLowerCase(),
    start,
    end,
    confidence,
    ...(punctuate ? { punctuated_word: shown[at] } : {}),
    ...(diarize ? { speaker, speaker_confidence: 0.81 } : {}),
  }))
}

/** Values begin with a space in places, as the published sample's do. */
function entities(words: readonly SpokenWord[]): JsonObject[] {
  return entitiesIn(words).map(({ kind, startWord, endWord }) => ({
    label: labels[kind],
    value: ` ${joined(words.slice(startWord, endWord))}`,
    confidence: 0.93,
    start_word: startWord,
    end_word: endWord,
  }))
}

function utterance(request: ListenRequest, turn: SpokenTurn, index: number): JsonObject {
  return {
    start: turn.words[0]?.start ?? 0,
    end: turn.words.at(-1)?.end ?? 0,
    confidence: mean(turn.words),
    channel: request.multichannel ? turn.speaker : 0,
    transcript: textOf(request, turn),
    words: wordsOf(request, turn),
    ...(request.diarize ? { speaker: turn.speaker } : {}),
    id: requestIdOf(`utterance ${index} ${turn.words[0]?.start}`),
  }
}

function mean(words: readonly SpokenWord[]): number {
  return words.reduce((sum, { confidence }) => sum + confidence, 0) / Math.max(1, words.length)
}
