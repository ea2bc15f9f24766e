import type { SpeechReference } from '../../canonical/call.ts'
import { fieldError, type GatewayError } from '../../core/errors.ts'
import { formatOfMimeType } from '../transcription/received-audio.ts'
import { readClip } from './clip-sound.ts'
import type { ReferencePart } from './speech-request.ts'

/** The contract's bound for the clips of a voice reference. */
const referenceClipsMax = 3

type Clip = Extract<ReferencePart, { type: 'input_audio' }>

type SlicesOf = (data: string) => Iterable<string>

/**
 * Turns the parts into references: clips, each with its transcript, or one image. Works in steps of a millisecond.
 * `slicesOf` gives the whole `data` of a clip. An error has the part's index.
 */
export function* toReferences(
  parts: readonly ReferencePart[],
  slicesOf: SlicesOf,
): Generator<void, SpeechReference[]> {
  if (parts.length === 0) return []
  if (parts.some(({ type }) => type === 'image_url')) return [toImage(parts)]
  requireClips(parts)
  const clips = parts.flatMap((part, index) => (part.type === 'input_audio' ? [{ part, index }] : []))
  if (clips.length === 1) requireOneText(parts)
  else requireTextsAfterClips(parts)
  const references: SpeechReference[] = []
  for (const { part, index } of clips) {
    const text = clips.length === 1 ? parts.find(({ type }) => type === 'text') : parts[index + 1]
    const transcript = text?.type === 'text' ? text.text : null
    references.push({ ...(yield* toClip(part, index, slicesOf)), transcript })
  }
  return references
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

/** A clip's transcript stands before or after it, but not both. */
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

function* toClip(
  { input_audio: audio }: Clip,
  index: number,
  slicesOf: SlicesOf,
): Generator<void, Omit<SpeechReference, 'transcript'>> {
  const format = audio.format?.toLowerCase() ?? null
  if (audio.data === undefined) return { type: 'audio', data: null, url: audio.url ?? null, format }
  const { pieces, mimeType } = yield* readClip(slicesOf(audio.data), fieldOf(index))
  return { type: 'audio', data: pieces, url: null, format: format ?? formatOfMimeType(mimeType) }
}

function fieldOf(index: number): string {
  return `input_references[${index}]`
}

function wrong(index: number, problem: string): GatewayError {
  return fieldError(fieldOf(index), problem)
}
