import { useEffect, useState } from 'react'
import { send } from '../../api/client.ts'
import { readEvents } from '../../api/events.ts'
import { asFailure, type ApiFailure } from '../../api/failure.ts'
import { isOpen, type Batch } from '../batches/batch-parts.tsx'

export interface LiveBatch {
  batch: Batch | null
  failure: ApiFailure | null
  /** Whether the stream of events is open now. */
  isLive: boolean
  again: () => void
}

const slowestRetryMs = 5000
/** The gateway says something every 10 s at least, if only a comment. */
const silenceMsMax = 25_000

/**
 * A batch as it is, by the events of the gateway. A stream that breaks (the gateway restarts, an hour is over) is
 * opened again after the last event that was read.
 */
export function useLiveBatch(id: string): LiveBatch {
  const [batch, setBatch] = useState<Batch | null>(null)
  const [failure, setFailure] = useState<ApiFailure | null>(null)
  const [isLive, setLive] = useState(false)
  const [round, setRound] = useState(0)
  useEffect(() => {
    const controller = new AbortController()
    void watch(id, controller.signal, {
      onBatch(next) {
        setBatch(next)
        setFailure(null)
      },
      onLive: setLive,
      onFailure: setFailure,
    })
    return () => controller.abort()
  }, [id, round])
  return { batch, failure, isLive, again: () => setRound((before) => before + 1) }
}

interface Listener {
  onBatch: (batch: Batch) => void
  onLive: (isLive: boolean) => void
  onFailure: (failure: ApiFailure) => void
}

/** Reads events up to the end of the batch or of the stream, whose last id it gives. */
async function follow(
  body: ReadableStream<Uint8Array>,
  listener: Listener,
): Promise<{ isEnd: boolean; id: string | null }> {
  let last: string | null = null
  for await (const { id, event, data } of readEvents(body, silenceMsMax)) {
    last = id ?? last
    const batch = JSON.parse(data) as Batch
    listener.onBatch(batch)
    if (event === 'end' || !isOpen(batch)) return { isEnd: true, id: last }
  }
  return { isEnd: false, id: last }
}

async function watch(id: string, signal: AbortSignal, listener: Listener): Promise<void> {
  let lastEventId: string | null = null
  let waitMs = 250
  while (!signal.aborted) {
    try {
      const response = await send('GET', `/batches/${encodeURIComponent(id)}/events`, {
        signal,
        headers: lastEventId === null ? {} : { 'last-event-id': lastEventId },
      })
      if (response.body === null || response.status === 204) return
      listener.onLive(true)
      waitMs = 250
      const last = await follow(response.body, listener)
      if (last.isEnd) return
      lastEventId = last.id ?? lastEventId
    } catch (error) {
      if (signal.aborted) return
      const failure = asFailure(error)
      listener.onFailure(failure)
      if (!failure.mayPass) return
      waitMs = failure.retryAfterMs ?? Math.min(slowestRetryMs, waitMs * 2)
    } finally {
      if (!signal.aborted) listener.onLive(false)
    }
    await new Promise((resolve) => setTimeout(resolve, waitMs))
  }
}
