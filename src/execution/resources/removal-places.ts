import type { Preset } from '../../providers/define-provider.ts'
import type { ConfiguredDeployment } from '../../providers/deployments.ts'
import type { RemovalDependencies } from './removal.ts'

/**
 * The places where leftovers can be removed: every deployment of the configuration, with the operator's own credential.
 */
export function createRemovalPlaces(
  configured: readonly ConfiguredDeployment[],
  presetOf: (slug: string) => Preset,
): RemovalDependencies['placeOf'] {
  const places = new Map(
    configured.map(({ deployment, credential }) => {
      const { adapters, jobs } = presetOf(deployment.preset)
      const { transcription, speech } = adapters
      const kinds = { ...transcription?.resources, ...speech?.resources, ...jobs?.resources }
      return [
        deployment.id,
        { target: { baseUrl: deployment.baseUrl, client: deployment.client, credential }, kinds },
      ] as const
    }),
  )
  return (deploymentId) => places.get(deploymentId) ?? null
}
