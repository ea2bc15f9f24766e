import { call, send } from '../../api/client.ts'
import { readEvents } from '../../api/events.ts'
import { costOf } from '../../api/generations.ts'
import type { Model } from '../../api/models.ts'
import { upload } from '../../api/upload.ts'
import { emptyAnswer, streamChat } from '../../values/chat-stream.ts'
import { streamSpeech } from '../../values/speech-stream.ts'
import { isOpen, type Batch } from '../batches/batch-parts.tsx'

/** What a try gave. */
export interface TryResult {
  text: string
  cost: number | null
  ms: number
  /** Where more of it stands. */
  to: string | null
  sound: Blob | null
}

interface TryGiven {
  model: Model
  onText: (text: string) => void
  /** The speech of the try before, to be written down. */
  sound: Blob | null
}

const sentence = 'The weather is good today.'

export async function tryChat({ model, onText }: TryGiven): Promise<TryResult> {
  const body = {
    model: model.id,
    stream: true,
    messages: [{ role: 'user', content: 'In one sentence: what does a headrace do?' }],
  }
  let answer = emptyAnswer
  await streamChat(body, new AbortController().signal, (next) => {
    answer = next
    onText(next.text)
  })
  return {
    text: answer.text,
    cost: answer.usage?.cost ?? null,
    ms: answer.totalMs ?? 0,
    to: answer.generationId === null ? null : `/requests/${answer.generationId}`,
    sound: null,
  }
}

export async function trySpeech({ model, onText }: TryGiven): Promise<TryResult> {
  const context = new AudioContext()
  void context.resume()
  const startMs = performance.now()
  const voice = model.supported_voices?.[0] ?? 'alloy'
  const { generationId, player, file } = await streamSpeech(
    { model: model.id, input: sentence, voice, response_format: 'pcm' },
    { context, onAnswer: () => onText(`“${sentence}” is being said`) },
  )
  const ms = performance.now() - startMs
  void player.untilSilent().then(() => context.close())
  return {
    text: `“${sentence}”`,
    cost: await costOf(generationId),
    ms,
    to: generationId === null ? null : `/requests/${generationId}`,
    sound: file,
  }
}

export async function tryTranscript({ model, sound }: TryGiven): Promise<TryResult> {
  if (sound === null) throw new Error('Let it speak first: its speech is what is written down here.')
  const form = new FormData()
  form.append('model', model.id)
  form.append('file', sound, 'speech.wav')
  const startMs = performance.now()
  const answer = await upload('/audio/transcriptions', form)
  const body = JSON.parse(answer.text) as { text: string; usage?: { cost?: number } }
  const id = answer.headers.get('x-generation-id')
  return {
    text: body.text,
    cost: body.usage?.cost ?? null,
    ms: performance.now() - startMs,
    to: id === null ? null : `/requests/${id}`,
    sound: null,
  }
}

const items = ['one', 'two', 'three', 'four', 'five']

export async function tryBatch({ model, onText }: TryGiven): Promise<TryResult> {
  const startMs = performance.now()
  const created = await call('POST /batches', {
    body: {
      endpoint: '/v1/chat/completions',
      model: model.id,
      requests: items.map((word) => ({
        custom_id: word,
        body: { messages: [{ role: 'user', content: `Say ${word}.` }] },
      })),
    },
  })
  const { id } = created as Batch
  const response = await send('GET', `/batches/${id}/events`)
  let batch = created as Batch
  if (response.body !== null)
    for await (const { data } of readEvents(response.body)) {
      batch = JSON.parse(data) as Batch
      onText(`${batch.request_counts.completed} of ${batch.request_counts.total} items`)
      if (!isOpen(batch)) break
    }
  return {
    text: `${batch.status}: ${batch.request_counts.completed} of ${batch.request_counts.total} items`,
    cost: batch.usage?.cost ?? null,
    ms: performance.now() - startMs,
    to: `/batches/${id}`,
    sound: null,
  }
}
