import { measureChannels } from '../../audio/channels.ts'
import { estimateDurationMs, measureDuration } from '../../audio/duration.ts'
import { isLocalAudio, isRemoteAudio, type RemoteAudio } from '../../canonical/audio.ts'
import type { TranscriptionCall } from '../../canonical/call.ts'
import { publicFetchMs } from '../../core/limits/calls.ts'
import { transcriptionRequirements } from '../../formats/transcription/transcription-requirements.ts'
import type { ExecutionDependencies } from '../dependencies.ts'
import { Places } from '../fetched/places.ts'
import { fetchRemoteAudio } from '../fetched/remote-audio.ts'
import { endpointsOf, routedCallOf } from '../preparing/route-model.ts'
import type { RequestScope } from '../call/scope.ts'

/** Audio of all calls of this process that is fetched from addresses at once; further calls wait. */
const audioFetchesMax = 32

/** A call whose audio is measured or bounded as far as the hold needs, and how to free what was stored for it. */
export interface KnownAudio {
  call: TranscriptionCall
  /** Never rejects. */
  dispose(): Promise<void>
}

/** Shared by all calls of this process. */
const places = new Places(audioFetchesMax)

const nothing: KnownAudio['dispose'] = () => Promise.resolve()

/**
 * The audio's length decides the hold, so it is measured, or bounded, before the call is made. Audio at an address
 * stays there when every endpoint of the route takes addresses: the provider fetches it, and the hold is that of audio
 * of unknown length. Otherwise the gateway fetches it once, and every endpoint is sent the same bytes.
 */
export async function knowAudio(
  call: TranscriptionCall,
  scope: RequestScope,
  dependencies: ExecutionDependencies,
): Promise<KnownAudio> {
  const { audio } = call
  if (!isRemoteAudio(audio)) return { call: await measured(call), dispose: nothing }
  const asked = routedCallOf(call, transcriptionRequirements(call), scope, dependencies.serving())
  const route = endpointsOf(asked, [call.model], dependencies)
  // Nothing is fetched for a call that no endpoint serves; `prepare` tells the caller the reason.
  if (route.length === 0) return { call, dispose: nothing }
  const { url, isConfigured } = await dependencies.publicFetch.check(audio.url, audio.field)
  // Providers may be unable to reach a host that the operator allowed by configuration.
  const isLeft = !isConfigured && route.every((endpoint) => endpoint.audio?.url === true)
  if (isLeft) {
    const left: RemoteAudio = { ...audio, url }
    return { call: { ...call, audio: left }, dispose: nothing }
  }
  return fetchAudio(call, audio, { scope, dependencies })
}

/**
 * The same, but the gateway fetches the audio in any case, for example because the balance does not cover audio of
 * unknown length.
 */
export async function fetchAudio(
  call: TranscriptionCall,
  audio: RemoteAudio,
  { scope, dependencies }: { scope: RequestScope; dependencies: ExecutionDependencies },
): Promise<KnownAudio> {
  const { audioIntake: intake, publicFetch, transcriptionMs } = dependencies
  const free = await places.take(scope.signal)
  try {
    const timeoutMs = Math.min(publicFetchMs, transcriptionMs ?? publicFetchMs)
    const fetched = await fetchRemoteAudio(audio, {
      intake,
      open: () => publicFetch(audio.url, audio.field, { ...anyAudio, timeoutMs, signal: scope.signal }),
    })
    return { call: await measured({ ...call, audio: fetched }), dispose: () => fetched.stored.dispose() }
  } finally {
    free()
  }
}

const anyAudio = { what: 'audio', accept: 'audio/*, */*;q=0.5' } as const

async function measured(call: TranscriptionCall): Promise<TranscriptionCall> {
  const { audio, demand } = call
  if (!isLocalAudio(audio)) return call
  const milliseconds = await measureDuration(audio)
  const audioMilliseconds = milliseconds ?? estimateDurationMs(audio.format, audio.sizeBytes)
  const channels = await measureChannels(audio)
  const counted = { ...demand, audioMilliseconds, ...(channels === null ? {} : { audioChannels: channels }) }
  return { ...call, measuredMilliseconds: milliseconds, demand: counted }
}
