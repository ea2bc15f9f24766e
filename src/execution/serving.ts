import type { Credential } from '../canonical/credential.ts'
import type { Deployment } from '../canonical/endpoint.ts'
import type { Catalog, CatalogView } from '../catalog/catalog.ts'
import { assert } from '../core/assert.ts'
import type { Adapters, Preset } from '../providers/define-provider.ts'
import type { ConfiguredDeployment } from '../providers/deployments.ts'

/**
 * What is served at one moment: models with their prices, what their providers speak, and the operator's credentials.
 * Never changed. A call takes it once, at its beginning, so that a reload is a swap that no call sees half of.
 */
export interface Serving {
  catalog: CatalogView
  /** Whether some deployment is guarded. */
  hasGuarded: boolean
  adaptersOf(deployment: Deployment): Adapters
  /** The operator's own credential for the deployment. */
  credentialOf(deployment: Deployment): Credential
}

/** What is served now, as often as it is asked; the same value until something has changed. */
export function createServing(
  catalog: Pick<Catalog, 'current'>,
  configured: readonly ConfiguredDeployment[],
  presetOf: (slug: string) => Preset,
): () => Serving {
  const credentials = new Map(configured.map(({ deployment, credential }) => [deployment.id, credential]))
  const hasGuarded = configured.some(({ deployment }) => deployment.isGuarded === true)
  let serving: Serving | null = null
  return () => {
    const view = catalog.current()
    if (serving?.catalog === view) return serving
    serving = {
      catalog: view,
      hasGuarded,
      adaptersOf: ({ preset }) => presetOf(preset).adapters,
      credentialOf({ id }) {
        const credential = credentials.get(id)
        assert(credential, `the deployment ${id} has a credential`)
        return credential
      },
    }
    return serving
  }
}
