import { modelEndpoints, zdrEndpoints } from '../../catalog/endpoint-json.ts'
import type { HttpDependencies } from '../http-dependencies.ts'
import type { HttpRoute } from '../pipeline.ts'
import { forReader } from './catalog.ts'

/** The endpoints of a model, those without data retention, and the providers. Public, like the catalog. */
export function endpointRoutes(dependencies: HttpDependencies): HttpRoute[] {
  const common = { method: 'GET', group: 'catalog', access: 'optional' } as const
  return [
    {
      ...common,
      path: '/models/:id{.+}/endpoints',
      name: 'model_endpoints',
      handle: (reader) => {
        const data = modelEndpoints(
          dependencies.catalog.current(),
          reader.params['id'] ?? '',
          dependencies.figuresOf,
        )
        return forReader({ data }, reader)
      },
    },
    {
      ...common,
      path: '/providers',
      name: 'providers',
      handle: (reader) => forReader({ data: listProviders(dependencies) }, reader),
    },
    {
      ...common,
      path: '/endpoints/zdr',
      name: 'endpoints_zdr',
      handle: (reader) =>
        forReader({ data: zdrEndpoints(dependencies.catalog.current(), dependencies.figuresOf) }, reader),
    },
  ]
}

/** The gateway does not know the addresses of the providers' policies, but the contract requires the members. */
function listProviders({ catalog }: HttpDependencies) {
  return catalog.current().providers.map(({ name, slug }) => ({ name, slug, privacy_policy_url: null }))
}
