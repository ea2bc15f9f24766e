import type { SpeechAdapter } from '../../canonical/audio.ts'
import type { SpeechCall } from '../../canonical/call.ts'
import { isOwnVoice, type Endpoint } from '../../canonical/endpoint.ts'
import { optionsFor, optionsLeftOut } from '../provider-options.ts'
import { addressAt } from '../text/text-interface.ts'
import { readUpstreamFailure } from '../upstream-errors.ts'
import { bodyWithClips } from './clip-body.ts'
import { formatToAsk } from './format-to-ask.ts'
import {
  speechFormFor,
  type OpenAiSpeechOptions,
  type SpeechForm,
  type SpeechFormatChoice,
} from './openai-speech-options.ts'
import { rawSpeech } from './raw-speech.ts'
import { voiceToAsk } from './voice-to-ask.ts'

/** OpenAI's speech call, for providers that follow it, each with its differences as data. */
export function openAiSpeech(options: OpenAiSpeechOptions = {}): SpeechAdapter {
  return {
    first({ call, endpoint }) {
      const form = speechFormFor(options, endpoint)
      const choice = chosenAt(call, endpoint, form)
      const body = bodyWithClips(JSON.stringify(toBody(call, endpoint, { form, choice })), call.references)
      const target = { model: endpoint.upstreamModel, stream: true }
      const address = addressAt(endpoint.deployment.baseUrl, form, target)
      const dropped = optionsLeftOut(call.preferences, endpoint, (name) => !reserved.has(name))
      return {
        type: 'stream',
        exchange: { request: { ...address, headers: jsonHeaders, body }, dropped },
        open: () => rawSpeech(choice.output),
      }
    },
    next() {
      throw new Error('speech is the body of the first response')
    },
    readError: readUpstreamFailure,
  }
}

/** A format that passes through keeps the caller's name for it, and the gateway does not read its sound. */
function chosenAt(call: SpeechCall, endpoint: Endpoint, form: SpeechForm): SpeechFormatChoice {
  const { passedFormat } = call
  return passedFormat === undefined
    ? form[formatToAsk(call, endpoint)]
    : { name: passedFormat, output: form.pcm.output }
}

const jsonHeaders = { 'content-type': 'application/json' }

function toBody(
  call: SpeechCall,
  endpoint: Endpoint,
  { form, choice }: { form: SpeechForm; choice: SpeechFormatChoice },
): Record<string, unknown> {
  const passed = Object.entries(optionsFor(call.preferences, endpoint)).filter(
    ([name]) => !reserved.has(name),
  )
  const voice = voiceToAsk(call, endpoint)
  return {
    ...Object.fromEntries(passed),
    model: endpoint.upstreamModel,
    input: call.input,
    ...(voice === null ? {} : { voice: isOwnVoice(voice, endpoint.audio ?? {}) ? { id: voice } : voice }),
    response_format: choice.name,
    ...choice.members,
    // The normal speed is not sent, because models without the field refuse it.
    ...(call.speed === 1 ? {} : { speed: call.speed }),
    ...(call.references.length > 0 ? form.references?.(call.references) : {}),
  }
}

/**
 * Members that the gateway decides, or that would change the form of the answer. The caller's options cannot set them.
 */
const reserved: ReadonlySet<string> = new Set([
  'model',
  'input',
  'input_references',
  'voice',
  'response_format',
  'response_encoding',
  'sample_rate',
  'speed',
  'stream',
  'stream_format',
  'session_id',
  'user',
  'trace',
])
