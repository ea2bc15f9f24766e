import type { Endpoint } from '../canonical/endpoint.ts'
import type { DeploymentSource } from './deployment-source.ts'
import { toPublicId } from './model-ids.ts'

interface Question {
  /** A model's id as a caller wrote it; no listing has it. */
  base: string
  sources: readonly DeploymentSource[]
  /** Endpoints of speech by the ids of their models. */
  speech: ReadonlyMap<string, readonly Endpoint[]>
}

/**
 * The endpoints for a name that contains a voice and is in no list, such as `aura-2-apollo-en`: those of its family,
 * which are asked for this name and need no other voice. The id, model and price stay the family's, so that the
 * family's policies and figures apply, and callers cannot create any number of endpoints.
 */
export function voicedEndpoints({ base, sources, speech }: Question): readonly Endpoint[] {
  return sources.flatMap(({ deployment, author, familyOfVoice }) => {
    const upstreamModel = base.startsWith(`${author}/`) ? base.slice(author.length + 1) : base
    const family = familyOfVoice?.(upstreamModel) ?? null
    if (family === null) return []
    const endpoints = speech.get(toPublicId(author, family)) ?? []
    return endpoints
      .filter((endpoint) => endpoint.deployment.id === deployment.id && endpoint.audio !== null)
      .map((endpoint) => voiced(endpoint, upstreamModel))
  })
}

function voiced(endpoint: Endpoint, upstreamModel: string): Endpoint {
  const { audio } = endpoint
  return {
    ...endpoint,
    upstreamModel,
    audio: audio === null ? null : { ...audio, defaultVoice: upstreamModel },
  }
}
