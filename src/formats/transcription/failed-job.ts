import { redactForCaller } from '../redact.ts'
import { AttemptFailed } from '../../canonical/attempt-failed.ts'
import { isRemoteAudio } from '../../canonical/audio.ts'
import type { TranscriptionCall } from '../../canonical/call.ts'
import type { CallAt } from '../../canonical/steps.ts'
import { GatewayError } from '../../core/errors.ts'
import { ProviderReport } from '../upstream-errors.ts'

/** Words with which providers blame the sound, or the URL that it should come from. */
const mediaPatterns: readonly RegExp[] = [
  /download|\b(?:fetch|retriev)\w*|unreachable|not (?:be )?(?:reach|access)/i,
  /transcod|decod|corrupt|unsupported (?:\w+ )?(?:file|format|media|audio|codec)|file (?:type|format)/i,
  /(?:not|no|without)(?: \w+){0,3} (?:audio|speech|sound|spoken|media)\b/i,
  /(?:invalid|empty|broken|unreadable|malformed) (?:\w+ )?(?:audio|media|file|sound)\b/i,
  /(?:audio|file|duration|media|recording)(?: \w+){0,3} too (?:short|long|large|small)/i,
]

/**
 * The cause of a failed job: the caller's sound or URL, the gateway's account with the provider, or the provider
 * itself.
 */
export type JobFault = 'sound' | 'account' | 'provider'

/**
 * The failure of a job that its provider reports inside a successful answer. The provider's own error type decides the
 * cause, otherwise the words of the reason. Unless the sound is at fault, another provider may be tried; the same
 * provider is not.
 */
export function failedJob(
  reason: string,
  { call, context }: CallAt<TranscriptionCall>,
  fault: JobFault = blamedIn(reason),
): AttemptFailed {
  const said = redactForCaller(context.hideSecrets(reason), context.modelNames)
  const cause = new ProviderReport('the job has failed', said)
  return new AttemptFailed({
    error: errorOf(fault, { call, said, cause }),
    retryElsewhere: fault !== 'sound',
    retrySame: false,
    credentialFault: fault === 'account',
    retryAfterMs: null,
  })
}

function blamedIn(reason: string): JobFault {
  return mediaPatterns.some((pattern) => pattern.test(reason)) ? 'sound' : 'provider'
}

interface Failed {
  call: TranscriptionCall
  said: string
  cause: Error
}

function errorOf(fault: JobFault, { call, said, cause }: Failed): GatewayError {
  if (fault === 'sound') return unusable(call, said, cause)
  if (fault === 'provider') return givenUp(said, cause)
  return new GatewayError('provider_failed', "The gateway's account with the provider has no quota left.", {
    cause,
  })
}

function unusable({ audio }: TranscriptionCall, said: string, cause: Error): GatewayError {
  const isRemote = isRemoteAudio(audio)
  const remedy = isRemote
    ? 'Check that anyone can fetch the address and that it gives audio.'
    : 'Check that the file is audio and is whole.'
  const message = `The provider could not use the audio${quoted(said)}. ${remedy}`
  return new GatewayError('invalid_request', message, { cause, ...(isRemote ? { param: audio.field } : {}) })
}

function givenUp(said: string, cause: Error): GatewayError {
  return new GatewayError('provider_failed', `The provider gave the job up${quoted(said)}.`, { cause })
}

/** The provider's own words as part of the gateway's sentence; empty when it sent none. */
function quoted(said: string): string {
  return said === '' ? '' : `: "${said}"`
}
