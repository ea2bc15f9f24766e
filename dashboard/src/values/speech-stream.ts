import { send } from '../api/client.ts'
import { PcmPlayer } from './pcm-player.ts'
import { rateOf, wavFile } from './pcm.ts'

/** The body of a call that answers samples. */
export interface SpeechBody {
  model: string
  input: string
  voice?: string
  response_format: 'pcm'
  speed?: number
}

export interface SpokenAnswer {
  /** Samples a second. */
  rate: number
  generationId: string | null
  provider: string | null
  /** Can stop it. */
  player: PcmPlayer
}

/** Has a text spoken and plays it while it arrives. Resolves when all of it has arrived, with a WAV file of it. */
export async function streamSpeech(
  body: SpeechBody,
  given: {
    context: AudioContext
    signal?: AbortSignal
    onAnswer?: (answer: SpokenAnswer) => void
    onPiece?: (piece: { samples: Float32Array; soundsInMs: number }) => void
    /** What has arrived, also when the provider breaks off. */
    onFile?: (file: Blob) => void
  },
): Promise<SpokenAnswer & { file: Blob }> {
  const response = await send('POST', '/audio/speech', {
    body: JSON.stringify(body),
    type: 'application/json',
    ...(given.signal === undefined ? {} : { signal: given.signal }),
  })
  const { headers } = response
  const rate = rateOf(headers.get('content-type'))
  const player = new PcmPlayer(given.context, rate)
  const answer = {
    rate,
    generationId: headers.get('x-generation-id'),
    provider: headers.get('x-provider-name'),
    player,
  }
  given.onAnswer?.(answer)
  const pieces: Uint8Array[] = []
  try {
    const reader = response.body?.getReader()
    for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {
      pieces.push(next.value)
      const piece = player.add(next.value)
      given.onPiece?.(piece)
    }
  } finally {
    if (pieces.length > 0) given.onFile?.(wavFile(pieces, rate))
  }
  return { ...answer, file: wavFile(pieces, rate) }
}
