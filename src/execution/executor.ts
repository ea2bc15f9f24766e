import type { SpeechCall, TextCall, TranscriptionCall } from '../canonical/call.ts'
import type { ExecutionParts } from './parts.ts'
import type { Outcome, RequestScope } from './scope.ts'
import { executeSpeech } from './speech-call.ts'
import { executeText } from './text-call.ts'
import { executeTranscription, type TranscriptionOutcome } from './transcription-call.ts'

/** The one path, for whoever calls: prepare, call, complete. Rejects with a GatewayError, having settled. */
export interface Executor {
  text(call: TextCall, scope: RequestScope): Promise<Outcome>
  transcription(call: TranscriptionCall, scope: RequestScope): Promise<TranscriptionOutcome>
  speech(call: SpeechCall, scope: RequestScope): Promise<Outcome>
}

export function createExecutor(parts: ExecutionParts): Executor {
  return {
    text: (call, scope) => executeText(call, scope, parts),
    transcription: (call, scope) => executeTranscription(call, scope, parts),
    speech: (call, scope) => executeSpeech(call, scope, parts),
  }
}
