import { useEffect, useRef, useState } from 'react'
import { call, send } from '../../api/client.ts'
import { asFailure, type ApiFailure } from '../../api/failure.ts'
import { PcmPlayer } from '../../values/pcm-player.ts'
import { peaksOf, rateOf, wavFile } from '../../values/pcm.ts'

export interface Spoken {
  id: number
  body: Readonly<Record<string, unknown>>
  state: 'waiting' | 'arriving' | 'done' | 'stopped' | 'failed'
  failure: ApiFailure | null
  firstByteMs: number | null
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
  isBusy: boolean
  speak: (body: Readonly<Record<string, unknown>>) => void
  stop: () => void
}

/** Earlier answers that stay on the page; each keeps its sound in memory. */
const keptMax = 12
const peaksPerSecond = 24
const costTriesMax = 6
const costTryMs = 300

/** Sends texts to be spoken, and plays each answer while it arrives. */
export function useSpeech(): SpeechPlayer {
  const [spoken, setSpoken] = useState<readonly Spoken[]>([])
  const [isBusy, setBusy] = useState(false)
  const context = useRef<AudioContext | null>(null)
  const player = useRef<PcmPlayer | null>(null)
  const controller = useRef<AbortController | null>(null)
  const nextId = useRef(1)

  const stop = () => {
    controller.current?.abort()
    player.current?.stop()
  }
  useEffect(
    () => () => {
      controller.current?.abort()
      player.current?.stop()
      void context.current?.close()
    },
    [],
  )

  const speak = async (body: Readonly<Record<string, unknown>>) => {
    stop()
    const abort = new AbortController()
    controller.current = abort
    const id = nextId.current
    nextId.current += 1
    const put = (change: Partial<Spoken>) =>
      setSpoken((before) => before.map((one) => (one.id === id ? { ...one, ...change } : one)))
    setSpoken((before) => [{ ...blank, id, body }, ...before].slice(0, keptMax))
    setBusy(true)
    // Within the click: a browser starts no sound without one.
    context.current ??= new AudioContext({ latencyHint: 'interactive' })
    void context.current.resume()
    const startMs = performance.now()
    try {
      const response = await send('POST', '/audio/speech', {
        body: JSON.stringify(body),
        type: 'application/json',
        signal: abort.signal,
      })
      const rate = rateOf(response.headers.get('content-type'))
      const playing = new PcmPlayer(context.current, rate)
      player.current = playing
      const generationId = response.headers.get('x-generation-id')
      put({ state: 'arriving', generationId, provider: response.headers.get('x-provider-name') })
      await play(response, playing, { rate, startMs, put })
      put({ state: 'done', totalMs: performance.now() - startMs })
      void costOf(generationId).then((cost) => put({ cost }))
    } catch (error) {
      if (abort.signal.aborted) put({ state: 'stopped' })
      else put({ state: 'failed', failure: asFailure(error) })
    } finally {
      if (controller.current === abort) setBusy(false)
    }
  }
  return { spoken, isBusy, speak: (body) => void speak(body), stop }
}

const blank: Omit<Spoken, 'id' | 'body'> = {
  state: 'waiting',
  failure: null,
  firstByteMs: null,
  firstSoundMs: null,
  totalMs: null,
  seconds: 0,
  peaks: [],
  file: null,
  generationId: null,
  provider: null,
  cost: null,
}

/** Plays the body; what has arrived is a file even if the provider breaks off. */
async function play(
  response: Response,
  player: PcmPlayer,
  { rate, startMs, put }: { rate: number; startMs: number; put: (change: Partial<Spoken>) => void },
): Promise<void> {
  const reader = response.body?.getReader()
  if (reader === undefined) return
  const pieces: Uint8Array[] = []
  const peaks: number[] = []
  let samplesCount = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const isFirst = pieces.length === 0
      pieces.push(value)
      const { samples, soundsInMs } = player.add(value)
      samplesCount += samples.length
      peaks.push(...peaksOf(samples, Math.max(1, Math.round((samples.length / rate) * peaksPerSecond))))
      const now = performance.now() - startMs
      put({
        peaks: [...peaks],
        seconds: samplesCount / rate,
        ...(isFirst ? { firstByteMs: now, firstSoundMs: now + soundsInMs } : {}),
      })
      if (isFirst) performance.mark('headrace:first-sound', { detail: { afterFirstByteMs: soundsInMs } })
    }
  } finally {
    if (pieces.length > 0) put({ file: wavFile(pieces, rate) })
  }
}

async function costOf(generationId: string | null): Promise<number | null> {
  if (generationId === null) return null
  for (let count = 0; count < costTriesMax; count += 1) {
    try {
      return (await call('GET /generation', { query: { id: generationId } })).data.total_cost
    } catch {
      await new Promise((resolve) => setTimeout(resolve, costTryMs))
    }
  }
  return null
}
