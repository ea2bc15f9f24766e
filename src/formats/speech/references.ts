import type { SpeechReference } from '../../canonical/call.ts'
import { referenceBytesMax, referenceClipsMax } from '../../core/limits/audio.ts'
import type { GatewayError } from '../../core/errors.ts'
import { fieldError } from '../field-error.ts'
import { formatOfMimeType } from '../transcription/received-audio.ts'
import type { ReferencePart } from './speech-request.ts'

type Clip = Extract<ReferencePart, { type: 'input_audio' }>

/** Parts in their places as references: clips with the transcripts that belong to them, or one image. Throws with the index. */
export function toReferences(parts: readonly ReferencePart[]): SpeechReference[] {
  if (parts.length === 0) return []
  if (parts.some(({ type }) => type === 'image_url')) return [toImage(parts)]
  requireClips(parts)
  const clips = parts.flatMap((part, index) => (part.type === 'input_audio' ? [{ part, index }] : []))
  if (clips.length === 1) requireOneText(parts)
  else requireTextsAfterClips(parts)
  return clips.map(({ part, index }) => {
    const text = clips.length === 1 ? parts.find(({ type }) => type === 'text') : parts[index + 1]
    return { ...toClip(part, index), transcript: text?.type === 'text' ? text.text : null }
  })
}

function toImage(parts: readonly ReferencePart[]): SpeechReference {
  const other = parts.findIndex(({ type }) => type !== 'image_url')
  if (other >= 0)
    throw wrong(other, 'stands next to an image. An image reference is alone; leave out the other parts.')
  if (parts.length > 1) throw wrong(1, 'is a second image. Send exactly one image.')
  const [image] = parts
  const url = image?.type === 'image_url' ? image.image_url.url : null
  return { type: 'image', data: null, url, format: null, transcript: null }
}

function requireClips(parts: readonly ReferencePart[]): void {
  let clips = 0
  for (const [index, { type }] of parts.entries()) {
    if (type !== 'input_audio') continue
    clips += 1
    if (clips > referenceClipsMax)
      throw wrong(index, `is one clip too many. Send at most ${referenceClipsMax} clips.`)
  }
  if (clips === 0) throw wrong(0, 'is a text without a clip. Add the `input_audio` part that it transcribes.')
}

/** Before or after its clip, but only one. */
function requireOneText(parts: readonly ReferencePart[]): void {
  const texts = parts.flatMap(({ type }, index) => (type === 'text' ? [index] : []))
  if (texts[1] !== undefined)
    throw wrong(texts[1], 'is a second text for one clip. Send at most one text per clip.')
}

function requireTextsAfterClips(parts: readonly ReferencePart[]): void {
  for (const [index, { type }] of parts.entries()) {
    if (type === 'text' && parts[index - 1]?.type !== 'input_audio') {
      throw wrong(
        index,
        'does not follow a clip. With several clips each text stands immediately after its own.',
      )
    }
  }
}

function toClip({ input_audio: audio }: Clip, index: number): Omit<SpeechReference, 'transcript'> {
  const format = audio.format?.toLowerCase() ?? null
  if (audio.data === undefined) return { type: 'audio', data: null, url: audio.url ?? null, format }
  const { data: written, mimeType } = splitDataUrl(audio.data, index)
  const data = plainBase64(written, index)
  return { type: 'audio', data, url: null, format: format ?? formatOfMimeType(mimeType) }
}

function splitDataUrl(text: string, index: number): { data: string; mimeType: string | null } {
  if (!/^data:/i.test(text)) return { data: text, mimeType: null }
  const prefix = /^data:([^,;]*)(?:;[^,;]*)*;base64,/i.exec(text.slice(0, 256))
  if (!prefix)
    throw wrong(index, 'has a data URL that is not base64. Send `data:<type>;base64,…` or plain base64.')
  return { data: text.slice(prefix[0].length), mimeType: prefix[1] ?? null }
}

/** The same bytes in base64 without white space and with its padding, which not every provider does without. */
function plainBase64(written: string, index: number): string {
  const bytes = bytesOf(written)
  if (bytes === null)
    throw wrong(index, 'has `data` that is not valid base64. Encode the bytes of the audio file.')
  if (bytes.length === 0) throw wrong(index, 'has empty `data`. Send the bytes of an audio file.')
  if (bytes.length > referenceBytesMax)
    throw wrong(index, `is larger than ${referenceBytesMax} bytes. Send a shorter clip.`)
  const padding = '='.repeat((3 - (bytes.length % 3)) % 3)
  const isPlain = written.length === Math.ceil(bytes.length / 3) * 4 && written.endsWith(padding)
  return isPlain ? written : bytes.toBase64()
}

function bytesOf(base64: string): Uint8Array | null {
  try {
    return Uint8Array.fromBase64(base64)
  } catch {
    return null
  }
}

function wrong(index: number, problem: string): GatewayError {
  return fieldError(`input_references[${index}]`, problem)
}
