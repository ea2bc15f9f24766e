import { useEffect, useRef, useState } from 'react'
import { asFailure, type ApiFailure } from '../../api/failure.ts'
import { transcribe, type Transcript, type TranscriptionOptions } from './transcript.ts'

export type TranscriptionStep =
  | { name: 'idle' }
  | { name: 'sending'; sent: number; total: number }
  | { name: 'failed'; failure: ApiFailure }
  | { name: 'done'; transcript: Transcript }

/** A sound on the page, which stays until another takes its place or it is removed. */
export interface Sound {
  file: File
  isRecording: boolean
}

export interface Transcription {
  sound: Sound | null
  step: TranscriptionStep
  /** Takes a sound and has it transcribed. */
  take: (sound: Sound) => void
  again: () => void
  stop: () => void
  remove: () => void
}

/** Has sounds transcribed, one at a time. Whatever happens to a call, its sound is kept. */
export function useTranscription(options: TranscriptionOptions | null): Transcription {
  const [sound, setSound] = useState<Sound | null>(null)
  const [step, setStep] = useState<TranscriptionStep>({ name: 'idle' })
  const controller = useRef<AbortController | null>(null)
  const stop = () => controller.current?.abort()
  useEffect(() => () => controller.current?.abort(), [])
  const run = async ({ file }: Sound) => {
    stop()
    if (options === null) return
    const own = new AbortController()
    controller.current = own
    // A call that another one has replaced says nothing any more.
    const put = (next: TranscriptionStep) => controller.current === own && setStep(next)
    put({ name: 'sending', sent: 0, total: file.size })
    try {
      const transcript = await transcribe(file, options, {
        signal: own.signal,
        onProgress: (sent, total) => put({ name: 'sending', sent, total }),
      })
      put({ name: 'done', transcript })
    } catch (failure) {
      put(own.signal.aborted ? { name: 'idle' } : { name: 'failed', failure: asFailure(failure) })
    }
  }
  return {
    sound,
    step,
    take(next) {
      setSound(next)
      void run(next)
    },
    again: () => void (sound !== null && run(sound)),
    stop,
    remove() {
      stop()
      setSound(null)
      setStep({ name: 'idle' })
    },
  }
}
