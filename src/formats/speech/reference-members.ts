import type { SpeechCall, SpeechReference } from '../../canonical/call.ts'
import { fieldError } from '../../core/errors.ts'
import { clipMark } from './clip-body.ts'

/**
 * References in the contract's form, for gateways that follow it: clips, with marks for their sounds and their
 * transcripts after them, or one picture.
 */
export function contractReferences(
  references: readonly SpeechReference[],
): Readonly<Record<string, unknown>> {
  const parts = references.flatMap<unknown>(({ type, data, url, format, transcript }, index) => {
    if (type === 'image') return [{ type: 'image_url', image_url: { url } }]
    const audio = {
      ...(data === null ? { url } : { data: clipMark(index) }),
      ...(format === null ? {} : { format }),
    }
    const clip = { type: 'input_audio', input_audio: audio }
    return transcript === null ? [clip] : [clip, { type: 'text', text: transcript }]
  })
  return { input_references: parts }
}

/**
 * Throws `invalid_request` for a voice together with clips, for providers where the clips replace the voice. `own` is
 * the voice that such a provider takes as none.
 */
export function refuseVoiceBesideClips({ references, voice }: SpeechCall, own: string | null = null): void {
  if (references.length === 0 || voice === null || voice === own) return
  throw fieldError(
    'voice',
    'cannot stand beside `input_references` at the provider of this model, where a clip is the voice. Leave one of them out.',
  )
}
