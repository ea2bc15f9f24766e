import { contentTypeOf, fileNameOf, type LocalAudio, type StoredAudio } from '../../canonical/audio.ts'
import { defaultPreferences, type TranscriptionCall } from '../../canonical/call.ts'

const bytes = new Uint8Array(Buffer.from('RIFF and so on'))

const stored: StoredAudio = {
  sizeBytes: bytes.length,
  head: bytes,
  open: () => new Blob([bytes]).stream(),
  blob: () => new Blob([bytes]),
  dispose: () => Promise.resolve(),
}

/** A few bytes with this format as their stated format. */
export function testSound(format: string): LocalAudio {
  return {
    stored,
    field: 'input_audio.data',
    formatField: 'input_audio.format',
    format,
    fileName: fileNameOf(format),
    contentType: contentTypeOf(format),
    sizeBytes: bytes.length,
    open: () => stored.open(),
  }
}

/** A transcription of one second of sound, as decoded from a request. */
export function testTranscription(changes: Partial<TranscriptionCall> = {}): TranscriptionCall {
  return {
    kind: 'transcription',
    operation: 'transcription',
    model: 'openai/whisper-1',
    fallbackModels: [],
    preferences: defaultPreferences,
    parameters: [],
    demand: { inputTokens: 0, outputTokensMax: null, choices: 1, audioMilliseconds: 1_000, characters: 0 },
    sessionId: 'session',
    userId: 'user',
    trace: { trace_id: 't' },
    dropped: [],
    audio: testSound('wav'),
    measuredMilliseconds: 1_000,
    language: null,
    temperature: null,
    responseFormat: 'json',
    granularities: [],
    diarize: false,
    keyterms: [],
    ...changes,
  }
}
