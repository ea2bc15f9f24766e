import type { SpeechCall, SpeechReference } from '../../canonical/call.ts'
import { GatewayError } from '../../core/errors.ts'
import { referenceBytesMax } from '../../core/limits/audio.ts'
import type { PublicFetch } from '../../transport/public-fetch.ts'

const param = 'input_references'

const anyClip = { what: 'audio', accept: 'audio/*, */*;q=0.5' } as const

/** How clips are fetched, and how long that may take. */
export interface ClipFetching {
  publicFetch: PublicFetch
  timeoutMs: number
  signal: AbortSignal
}

/** True where a clip is named by its address, which no provider of speech takes. */
export function hasRemoteClips({ references }: SpeechCall): boolean {
  return references.some(isRemote)
}

/** The same call with the bytes of its clips. Throws `invalid_request` or `payload_too_large` that names the field. */
export async function withFetchedClips(call: SpeechCall, fetching: ClipFetching): Promise<SpeechCall> {
  const references: SpeechReference[] = []
  for (const reference of call.references) {
    const { url } = reference
    if (!isRemote(reference) || url === null) references.push(reference)
    else references.push({ ...reference, url: null, data: await fetched(url, fetching) })
  }
  return { ...call, references }
}

function isRemote({ type, url }: SpeechReference): boolean {
  return type === 'audio' && url !== null
}

async function fetched(url: string, { publicFetch, timeoutMs, signal }: ClipFetching): Promise<Uint8Array[]> {
  const file = await publicFetch(url, param, { ...anyClip, timeoutMs, signal })
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of file.body) {
    size += chunk.byteLength
    if (size > referenceBytesMax) {
      file.body.destroy()
      throw new GatewayError(
        'payload_too_large',
        `A clip of \`${param}\` is larger than ${referenceBytesMax} bytes. Send a shorter clip.`,
        { param },
      )
    }
    chunks.push(chunk)
  }
  if (size === 0) {
    const message = `The address of a clip of \`${param}\` gives nothing. Name one that has an audio file.`
    throw new GatewayError('invalid_request', message, { param })
  }
  return chunks
}
