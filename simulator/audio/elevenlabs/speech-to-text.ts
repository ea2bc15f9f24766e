import type { JsonObject } from '../../json.ts'
import type { SpokenWord } from '../../recognise.ts'
import { jsonReply, type Reply } from '../../reply.ts'
import type { UploadedFile } from '../../uploaded-file.ts'
import type { AudioAsked } from '../audio-api.ts'
import { entitiesIn } from '../entities.ts'
import { hear, type Heard, punctuated, type SpokenTurn, turnsOf } from '../hearing.ts'
import { fetchFile } from '../remote-file.ts'
import { requestIdOf } from '../request-id.ts'
import { parseSpeechToText, type SpeechToTextRequest } from './request.ts'
import { refusal } from './refusals.ts'

const slug = 'elevenlabs'
const uploadBytesMax = 2_000_000_000
const shortestSeconds = 0.1
const types = { name: 'name', place: 'location', date: 'date', organization: 'organization' } as const

const corrupt = () =>
  refusal(400, 'invalid_audio', 'File upload is corrupted. Please ensure it is playable audio.')
const unreachable = () => refusal(400, 'invalid_source_url', 'Could not download the file at the given URL.')

/** `POST /v1/speech-to-text`: a form with a file, or with the address of one. */
export async function speechToText(asked: AudioAsked): Promise<Reply> {
  const { body, key, signal } = asked
  const request = parseSpeechToText(body)
  const remote =
    request.url === null
      ? null
      : await fetchFile(request.url, { bytesMax: uploadBytesMax, signal, unreachable })
  try {
    const heard = await heardIn(remote?.file ?? request.file, request, asked)
    const id = requestIdOf(key)
    // With logging switched on, ElevenLabs keeps the transcript until the caller deletes it.
    if (asked.query.get('enable_logging') !== 'false') keep(id, heard, asked)
    const told = answerOf(request, heard, id)
    return {
      ...jsonReply(JSON.stringify(told)),
      headers: { 'x-simulator-transcription': heard.recognition.engine },
    }
  } finally {
    await remote?.dispose()
  }
}

function keep(id: string, heard: Heard, { mount }: AudioAsked): void {
  const work = Promise.resolve({ heard })
  mount.audioJobs.begin({ id, api: slug, request: null, uploadName: null, work, isEndless: false })
}

/** `DELETE /v1/speech-to-text/transcripts/{id}` */
export function removeTranscript({ mount }: AudioAsked, id = ''): Reply {
  const transcript = mount.audioJobs.find(slug, id)
  if (transcript === null || transcript.isRemoved)
    throw refusal(404, 'transcript_not_found', `There is no transcript ${id}.`)
  mount.audioJobs.remove(transcript)
  return jsonReply(JSON.stringify({ message: 'Delete completed successfully.' }))
}

async function heardIn(
  file: UploadedFile | null,
  { samples }: SpeechToTextRequest,
  { mount, faults, programs, signal }: AudioAsked,
): Promise<Heard> {
  if (file === null) throw corrupt()
  const heard = await hear(
    file,
    { faults, settings: mount.settings, programs, signal },
    { ...(samples === undefined ? {} : { samples }), unrecognised: corrupt, undecodable: corrupt },
  )
  if (heard.seconds >= shortestSeconds) return heard
  throw refusal(400, 'audio_too_short', 'The audio is too short. It must be at least 100 ms long.')
}

function answerOf(request: SpeechToTextRequest, { recognition, seconds }: Heard, id: string): JsonObject {
  const turns = turnsOf(recognition)
  const own = { transcription_id: id, audio_duration_secs: seconds }
  if (!request.multiChannel) return { ...transcriptOf(request, turns), ...own }
  const channels = [0, 1].map((channel) => ({
    ...transcriptOf(
      request,
      turns.filter(({ speaker }) => speaker === channel),
    ),
    channel_index: channel,
  }))
  return { transcripts: channels, ...own }
}

interface Token {
  text: string
  start: number
  end: number
  type: 'word' | 'spacing'
  logprob: number
  speaker: number
}

function transcriptOf(request: SpeechToTextRequest, turns: readonly SpokenTurn[]): JsonObject {
  const tokens = tokensOf(turns)
  const text = tokens.map((token) => token.text).join('')
  return {
    language_code: 'eng',
    language_probability: 0.98,
    text,
    words: request.granularity === 'none' ? [] : tokens.map((token) => shown(token, request)),
    ...(request.entities ? { entities: entitiesOf(turns, text) } : {}),
  }
}

/** Words, with an entry for the space between each two words. */
function tokensOf(turns: readonly SpokenTurn[]): Token[] {
  const tokens: Token[] = []
  for (const { words, speaker } of turns) {
    const written = punctuated(words)
    for (const [at, { start, end, confidence }] of words.entries()) {
      const last = tokens.at(-1)
      if (last !== undefined) {
        tokens.push({
          text: ' ',
          start: last.end,
          end: Math.max(last.end, start),
          type: 'spacing',
          logprob: 0,
          speaker,
        })
      }
      const logprob = Math.min(0, Math.log(Math.max(confidence, 1e-6)))
      tokens.push({ text: written[at] ?? '', start, end, type: 'word', logprob, speaker })
    }
  }
  return tokens
}

function shown({ speaker, ...token }: Token, { diarize, granularity }: SpeechToTextRequest): JsonObject {
  const characters = [...token.text].map((text) => ({ text, start: token.start, end: token.end }))
  return {
    ...token,
    ...(diarize ? { speaker_id: `speaker_${speaker}` } : {}),
    ...(granularity === 'character' ? { characters } : {}),
  }
}

/** Offsets count UTF-16 units; the end is exclusive. */
function entitiesOf(turns: readonly SpokenTurn[], text: string): JsonObject[] {
  const words: SpokenWord[] = turns.flatMap((turn) => turn.words)
  const small = text.toLowerCase()
  let from = 0
  return entitiesIn(words).flatMap(({ kind, startWord, endWord }) => {
    const said = words.slice(startWord, endWord).map(({ word }) => word)
    const start = small.indexOf(said.join(' ').toLowerCase(), from)
    if (start < 0) return []
    from = start + said.join(' ').length
    return [{ text: text.slice(start, from), entity_type: types[kind], start_char: start, end_char: from }]
  })
}
