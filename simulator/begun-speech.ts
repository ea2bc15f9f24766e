import type { Listening } from './audio/hearing.ts'
import { ApiError, invalidRequest } from './errors.ts'
import { type Speech, spoken, tone, type Utterance } from './synthesize.ts'

/** Speech that has begun. `dispose` ends the programs behind it and must be called on every exit. */
export interface BegunSpeech extends Speech {
  dispose(): Promise<unknown>
}

/** Waits for the first bytes of speech, so that a tone can still replace a program that fails. */
export async function beginSpeech(
  utterance: Utterance,
  { programs, signal, faults, settings }: Listening,
): Promise<BegunSpeech> {
  const isTone = faults.tone === true || settings.speech === 'tone'
  const choices = [isTone ? null : spoken(utterance, programs, signal), tone(utterance, programs, signal)]
  for (const choice of choices) {
    if (choice === null) continue
    const first = await choice.audio.next()
    if (first.done === true) continue
    // `dispose` ends the source, not the generator around it: a generator that was never started does not end
    // its source.
    const dispose = () => choice.audio.return(undefined)
    return { engine: choice.engine, audio: withFirst(first.value, choice.audio), dispose }
  }
  if (choices[1] !== null) {
    throw new ApiError({
      status: 503,
      type: 'server_error',
      message: 'The speech engine is busy, please try again later.',
    })
  }
  const message = `This simulator cannot make '${utterance.format}': install ffmpeg, or ask for wav or pcm.`
  throw invalidRequest(message, 'response_format', 'unsupported_value')
}

async function* withFirst(first: Uint8Array, rest: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield first
  yield* rest
}
