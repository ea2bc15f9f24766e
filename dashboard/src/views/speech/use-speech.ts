import { useEffect, useRef, useState } from 'react'
import { asFailure, type ApiFailure } from '../../api/failure.ts'
import { costOf } from '../../api/generations.ts'
import type { PcmPlayer } from '../../values/pcm-player.ts'
import { peaksOf } from '../../values/pcm.ts'
import { streamSpeech, type SpeechBody } from '../../values/speech-stream.ts'

export interface Spoken {
  id: number
  body: SpeechBody
  state: 'waiting' | 'arriving' | 'done' | 'stopped' | 'failed'
  failure: ApiFailure | null
  /** From the click to the first sound. */
  firstSoundMs: number | null
  totalMs: number | null
  seconds: number
  peaks: readonly number[]
  file: Blob | null
  generationId: string | null
  provider: string | null
  cost: number | null
}

export interface SpeechPlayer {
  spoken: readonly Spoken[]
  /** Whether something arrives or sounds. */
  isBusy: boolean
  speak: (body: SpeechBody) => void
  stop: () => void
}

/** Earlier answers that stay on the page; each keeps its sound in memory. */
const keptMax = 12
const peaksPerSecond = 24

/** Sends texts to be spoken, and plays each answer while it arrives. */
export function useSpeech(): SpeechPlayer {
  const [spoken, setSpoken] = useState<readonly Spoken[]>([])
  const [isBusy, setBusy] = useState(false)
  const context = useRef<AudioContext | null>(null)
  const running = useRef<Running | null>(null)
  const nextId = useRef(1)
  const stop = () => {
    running.current?.controller.abort()
    running.current?.player?.stop()
  }
  useEffect(
    () => () => {
      running.current?.controller.abort()
      running.current?.player?.stop()
      void context.current?.close()
      context.current = null
    },
    [],
  )
  const speak = async (body: SpeechBody) => {
    stop()
    const own: Running = { controller: new AbortController(), player: null }
    running.current = own
    const id = nextId.current
    nextId.current += 1
    const put = (change: Partial<Spoken>) =>
      setSpoken((before) => before.map((one) => (one.id === id ? { ...one, ...change } : one)))
    setSpoken((before) => [{ ...blank, id, body }, ...before].slice(0, keptMax))
    setBusy(true)
    // Within the click: a browser starts no sound without one.
    context.current ??= new AudioContext({ latencyHint: 'interactive' })
    void context.current.resume()
    try {
      await play(own, { body, context: context.current, put })
    } catch (error) {
      if (own.controller.signal.aborted) put({ state: 'stopped' })
      else put({ state: 'failed', failure: asFailure(error) })
    } finally {
      if (running.current === own) setBusy(false)
    }
  }
  return { spoken, isBusy, speak: (body) => void speak(body), stop }
}

/** A call whose answer arrives or sounds. */
interface Running {
  controller: AbortController
  player: PcmPlayer | null
}

const blank: Omit<Spoken, 'id' | 'body'> = {
  state: 'waiting',
  failure: null,
  firstSoundMs: null,
  totalMs: null,
  seconds: 0,
  peaks: [],
  file: null,
  generationId: null,
  provider: null,
  cost: null,
}

/** Plays the answer to its end and tells how it goes on. */
async function play(
  running: Running,
  { body, context, put }: { body: SpeechBody; context: AudioContext; put: (change: Partial<Spoken>) => void },
): Promise<void> {
  const startMs = performance.now()
  const peaks: number[] = []
  let samplesCount = 0
  let rate = 1
  const { generationId, player } = await streamSpeech(body, {
    context,
    signal: running.controller.signal,
    onAnswer(answer) {
      rate = answer.rate
      running.player = answer.player
      put({ state: 'arriving', generationId: answer.generationId, provider: answer.provider })
    },
    onPiece({ samples, soundsInMs }) {
      const isFirst = samplesCount === 0
      samplesCount += samples.length
      peaks.push(...peaksOf(samples, Math.max(1, Math.round((samples.length / rate) * peaksPerSecond))))
      put({
        peaks: [...peaks],
        seconds: samplesCount / rate,
        ...(isFirst ? { firstSoundMs: performance.now() - startMs + soundsInMs } : {}),
      })
    },
    onFile: (file) => put({ file }),
  })
  put({ state: 'done', totalMs: performance.now() - startMs })
  void costOf(generationId).then((cost) => put({ cost }))
  await player.untilSilent()
}
