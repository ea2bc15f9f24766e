import { isLocalAudio, type AudioRequirement } from '../../canonical/audio.ts'
import type { TranscriptionCall } from '../../canonical/call.ts'
import type { AudioCapabilities } from '../../canonical/endpoint.ts'
import { GatewayError } from '../../core/errors.ts'

/** What the call needs of an endpoint, in the order in which a caller should hear of it. */
export function transcriptionRequirements(call: TranscriptionCall): AudioRequirement[] {
  const requirements: AudioRequirement[] = []
  if (call.diarize) requirements.push(capability('diarize', (audio) => audio.diarize))
  if (call.keyterms.length > 0) requirements.push(capability('keyterms', (audio) => audio.keyterms))
  if (call.granularities.includes('word') && !call.diarize) requirements.push(wordTimes)
  if (isLocalAudio(call.audio)) requirements.push(uploadSize(call.audio.sizeBytes))
  return requirements
}

function capability(
  name: 'diarize' | 'keyterms',
  has: (audio: AudioCapabilities) => boolean,
): AudioRequirement {
  return {
    name,
    isMet: (endpoint) => endpoint.audio !== null && has(endpoint.audio),
    // The contract's words, which clients match.
    refuse: () =>
      new GatewayError(
        'invalid_request',
        `The selected model does not support ${name}. Remove the field or choose a model whose provider supports it.`,
        { param: name },
      ),
  }
}

const wordTimes: AudioRequirement = {
  name: 'timestamp_granularities',
  isMet: (endpoint) => endpoint.audio?.wordTimes === true,
  refuse: () =>
    new GatewayError(
      'invalid_request',
      'The selected model does not support timestamp_granularities "word". Ask for "segment", or choose a model whose provider times words.',
      { param: 'timestamp_granularities' },
    ),
}

function uploadSize(sizeBytes: number): AudioRequirement {
  return {
    name: 'file',
    isMet: (endpoint) => (endpoint.audio?.uploadBytesMax ?? Number.POSITIVE_INFINITY) >= sizeBytes,
    refuse: (model) =>
      new GatewayError(
        'payload_too_large',
        `The audio has ${sizeBytes} bytes, more than any provider of ${model} takes. Compress it to mp3 or ogg, or split it.`,
      ),
  }
}
