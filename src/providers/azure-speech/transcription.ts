import {
  isRemoteAudio,
  type CanonicalTranscription,
  type TranscriptionAdapter,
} from '../../canonical/audio.ts'
import type { TranscriptionCall } from '../../canonical/call.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import { oneExchange } from '../../canonical/steps.ts'
import type { UpstreamRequest } from '../../canonical/upstream.ts'
import { optionsFor, optionsLeftOut } from '../../formats/provider-options.ts'
import { readUpstreamFailure } from '../../formats/upstream-errors.ts'
import { audioPart, wavPart } from '../../formats/transcription/audio-part.ts'
import { readAzureSpeechTranscript } from './transcript.ts'
import { tidyKeyterms } from '../../formats/transcription/keyterms.ts'
import { encodeForm } from '../../formats/transcription/multipart-body.ts'

/** The version of the interface is part of every URL. */
const path = '/transcriptions:transcribe?api-version=2025-10-15'

/**
 * Fast transcription of Azure Speech: a form with the sound and with JSON options, which may have a URL in place of the
 * sound. https://learn.microsoft.com/en-us/azure/ai-services/speech-service/fast-transcription-create
 */
export const azureSpeechTranscription: TranscriptionAdapter = oneExchange<
  TranscriptionCall,
  CanonicalTranscription
>({
  encode: ({ call, endpoint }) => ({
    request: toRequest(call, endpoint),
    dropped: [
      ...optionsLeftOut(call.preferences, endpoint, isPassable),
      // The service has no temperature.
      ...(call.temperature === null ? [] : ['temperature']),
    ],
  }),
  decode: ({ bytes }, { call }) => readAzureSpeechTranscript(bytes, call.language),
  readError: readUpstreamFailure,
})

/** Options that the gateway decides; the caller cannot set them. */
const reserved = new Set(['audioUrl', 'locales', 'diarization', 'phraseList'])

function isPassable(name: string): boolean {
  return !reserved.has(name)
}

function toRequest(call: TranscriptionCall, endpoint: Endpoint): UpstreamRequest {
  const { audio } = call
  const part = audio.format === 'pcm' ? wavPart : audioPart
  const file = isRemoteAudio(audio) ? null : { ...part(audio), name: 'audio' }
  const definition = JSON.stringify(definitionOf(call, endpoint))
  const { contentType, body } = encodeForm([['definition', definition]], file)
  return { method: 'POST', path, headers: { 'content-type': contentType }, body }
}

/** Without `locales` the service detects the language. */
function definitionOf(call: TranscriptionCall, endpoint: Endpoint): Record<string, unknown> {
  const { audio, language, diarize, keyterms, preferences } = call
  const options = Object.entries(optionsFor(preferences, endpoint))
  const phrases = tidyKeyterms(keyterms)
  return {
    ...Object.fromEntries(options.filter(([name, value]) => isPassable(name) && value !== null)),
    ...(isRemoteAudio(audio) ? { audioUrl: audio.url } : {}),
    ...(language === null ? {} : { locales: [localeOf(language)] }),
    ...(diarize ? { diarization: { enabled: true } } : {}),
    ...(phrases.length > 0 ? { phraseList: { phrases } } : {}),
  }
}

/**
 * The language in the region where most of its speakers live: `de` becomes `de-DE`. Norwegian gets the name of its most
 * common written form.
 */
function localeOf(code: string): string {
  const { language, region } = new Intl.Locale(code === 'no' ? 'nb' : code).maximize()
  return region === undefined ? language : `${language}-${region}`
}
