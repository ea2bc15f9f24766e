import { pcmInputRate, wavHeader } from '../../canonical/audio.ts'
import type { AudioSource } from '../../canonical/call.ts'
import type { StreamedBody } from '../../canonical/upstream.ts'

/** Audio as the whole body, written while it is read. Headerless samples are sent as a WAV file. */
export function soundBody(audio: AudioSource): StreamedBody {
  if (audio.format !== 'pcm') return { contentLength: audio.sizeBytes, open: () => audio.open() }
  const header = wavHeader(audio.sizeBytes, pcmInputRate)
  return { contentLength: header.length + audio.sizeBytes, open: () => behind(header, audio) }
}

function readerOf(audio: AudioSource) {
  return audio.open().getReader()
}

/** The header, then the samples on demand. Cancelling the stream cancels their reader, which closes the file. */
function behind(header: Uint8Array, audio: AudioSource): ReadableStream<Uint8Array> {
  let reader: ReturnType<typeof readerOf> | null = null
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (reader === null) {
          reader = readerOf(audio)
          return controller.enqueue(header)
        }
        const { done, value } = await reader.read()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: (reason) => reader?.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}
