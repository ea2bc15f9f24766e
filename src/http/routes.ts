import { batchRoutes } from './handlers/batches.ts'
import { catalogRoutes } from './handlers/catalog.ts'
import { accountRoutes } from './handlers/account.ts'
import { endpointRoutes } from './handlers/endpoints.ts'
import { organizationRoutes } from './handlers/organization.ts'
import { speechRoute } from './handlers/speech.ts'
import { textRoutes, tokenCountRoutes } from './handlers/text.ts'
import { transcriptionRoute } from './handlers/transcription.ts'
import type { HttpDependencies } from './dependencies.ts'
import type { Route } from './pipeline.ts'

/** Every route below the version segment. */
export function routes(dependencies: HttpDependencies): Route[] {
  return [
    ...textRoutes(dependencies),
    ...tokenCountRoutes(dependencies),
    transcriptionRoute(dependencies),
    speechRoute(dependencies),
    ...batchRoutes(dependencies),
    ...organizationRoutes(dependencies),
    ...accountRoutes(dependencies),
    // Before the catalog, to which `…/endpoints` would be the end of an id.
    ...endpointRoutes(dependencies),
    ...catalogRoutes(dependencies),
  ]
}
