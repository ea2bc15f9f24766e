import { referenceBytesMax } from '../../core/limits/audio.ts'
import { fieldError } from '../../core/errors.ts'
import { Base64Stream } from '../transcription/base64-stream.ts'

/** The sound of a clip. */
export interface ClipSound {
  pieces: Uint8Array[]
  /** The media type in the data URL; null for plain base64. */
  mimeType: string | null
}

/**
 * Reads a clip's base64 slice by slice, in steps of a millisecond. White space, missing padding and the prefix of a
 * data URL are accepted. Throws `invalid_request`, which names the field.
 */
export function* readClip(slices: Iterable<string>, param: string): Generator<void, ClipSound> {
  const base64 = new Base64Stream(param)
  const pieces: Uint8Array[] = []
  let size = 0
  const keep = (piece: Uint8Array) => {
    size += piece.length
    if (size > referenceBytesMax)
      throw fieldError(param, `is larger than ${referenceBytesMax} bytes. Send a shorter clip.`)
    if (piece.length > 0) pieces.push(piece)
  }
  let isFirst = true
  for (const slice of slices) {
    if (!isFirst) yield
    isFirst = false
    keep(base64.push(slice))
  }
  keep(base64.end())
  if (size === 0) throw fieldError(param, 'has empty `data`. Send the bytes of an audio file.')
  return { pieces, mimeType: base64.mimeType }
}
