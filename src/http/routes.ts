import { batchRoutes } from './handlers/batches.ts'
import { catalogRoutes } from './handlers/catalog.ts'
import { accountRoutes } from './handlers/account.ts'
import { endpointRoutes } from './handlers/endpoints.ts'
import { organizationRoutes } from './handlers/organization.ts'
import { speechRoute } from './handlers/speech.ts'
import { textRoutes, tokenCountRoutes } from './handlers/text.ts'
import { transcriptionRoute } from './handlers/transcription.ts'
import type { HttpParts } from './parts.ts'
import type { Route } from './pipeline.ts'

/** Every route below the version segment. */
export function routes(parts: HttpParts): Route[] {
  return [
    ...textRoutes(parts),
    ...tokenCountRoutes(parts),
    transcriptionRoute(parts),
    speechRoute(parts),
    ...batchRoutes(parts),
    ...organizationRoutes(parts),
    ...accountRoutes(parts),
    // Before the catalog, to which `…/endpoints` would be the end of an id.
    ...endpointRoutes(parts),
    ...catalogRoutes(parts),
  ]
}
