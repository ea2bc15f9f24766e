import type { Credential } from '../canonical/credential.ts'
import type { Deployment } from '../canonical/endpoint.ts'
import type { Catalog, CatalogView } from '../catalog/catalog.ts'
import { assert } from '../core/assert.ts'
import type { Adapters, Preset } from '../providers/define-provider.ts'
import type { ConfiguredDeployment } from '../providers/deployments.ts'

/**
 * What is served at one moment: models with their prices, the adapters of their providers, and the operator's
 * credentials. The value never changes. A call takes it once, at its beginning; a reload replaces the whole value, so
 * that no call sees half of a reload.
 */
export interface Serving {
  catalog: CatalogView
  /** Whether some deployment is guarded. */
  hasGuarded: boolean
  adaptersOf(deployment: Deployment): Adapters
  /** The operator's own credential for the deployment. */
  credentialOf(deployment: Deployment): Credential
}

/** Returns a function that says what is served now: the same value until the catalog changes. */
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
        assert(credential, 'every deployment has a credential')
        return credential
      },
    }
    return serving
  }
}
