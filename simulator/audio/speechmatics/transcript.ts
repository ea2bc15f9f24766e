import type { Faults } from '../../faults.ts'
import type { JsonObject } from '../../json.ts'
import { type Heard, punctuated, type SpokenTurn, turnsOf } from '../hearing.ts'
import { withLosses } from '../jobs.ts'

/** The results besides the words that a job was asked for. */
export interface SpeechmaticsRequest {
  url: string | null
  /** Null when Speechmatics is to identify the language. */
  language: string | null
  diarize: boolean
  /** Every word has its own language. */
  isMixed: boolean
  /** The caller's own reference, which listings show. */
  tracking: JsonObject | null
}

/** The `json-v2` of a job: words and marks in one list, without the whole text. */
export function transcriptOf(request: SpeechmaticsRequest, heard: Heard, faults: Faults): JsonObject {
  const language = request.language ?? 'en'
  const rows = turnsOf(heard.recognition).flatMap((turn) => rowsOf(turn, request, language))
  const identification = {
    results: [{ alternatives: [{ language, confidence: 0.96 }], start_time: 0, end_time: heard.seconds }],
  }
  return {
    format: '2.9',
    metadata: {
      ...(request.language === null && !request.isMixed ? { language_identification: identification } : {}),
      language_pack_info: request.isMixed
        ? { per_language_word_delimiters: { [language]: ' ' } }
        : { word_delimiter: ' ' },
    },
    results: withLosses(rows, faults),
  }
}

function rowsOf(turn: SpokenTurn, { diarize }: SpeechmaticsRequest, language: string): JsonObject[] {
  const speaker = diarize ? `S${turn.speaker + 1}` : 'UU'
  const shown = punctuated(turn.words)
  return turn.words.flatMap(({ start, end, confidence }, at) => {
    const [, content = '', mark = ''] = /^(.*?)([.!?,]?)$/.exec(shown[at] ?? '') ?? []
    const alternative = { confidence, language, speaker }
    const word = {
      type: 'word',
      start_time: start,
      end_time: end,
      alternatives: [{ ...alternative, content }],
    }
    if (mark === '') return [word]
    const punctuation = {
      type: 'punctuation',
      start_time: end,
      end_time: end,
      attaches_to: 'previous',
      is_eos: mark !== ',',
      alternatives: [{ ...alternative, content: mark, confidence: 1 }],
    }
    return [word, punctuation]
  })
}
