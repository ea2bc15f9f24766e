import { listModelPage } from '../../catalog/model-pages.ts'
import type { ModelJson } from '../../catalog/model-json.ts'
import {
  countModels,
  findListedModel,
  listEmbeddingModels,
  listModels,
  type ListOptions,
} from '../../catalog/model-list.ts'
import { GatewayError } from '../../core/errors.ts'
import type { HttpDependencies } from '../http-dependencies.ts'
import { jsonResponse, withPrincipal, type HttpExchange, type HttpRoute } from '../pipeline.ts'

/** The model catalog. Anonymous callers see the public one; a bad key is 401 and never anonymous. */
export function catalogRoutes(dependencies: HttpDependencies): HttpRoute[] {
  const common = { method: 'GET', group: 'catalog' } as const
  // When the organization's flag is on, its keys see only the models that they can use; every other caller sees the
  // public catalog.
  const options = (reader: HttpExchange, path: string): ListOptions => ({
    query: reader.query(),
    constraints: reader.principal?.isFilteredModelCatalogEnabled ? reader.principal.constraints : null,
    nowMs: dependencies.clock.nowMs(),
    figuresOf: dependencies.figuresOf,
    basePath: dependencies.basePath,
    path: `/v1${path}`,
  })
  return [
    {
      ...common,
      path: '/models',
      name: 'models',
      access: 'optional',
      handle: (reader) => listFor(reader, options(reader, '/models'), dependencies),
    },
    {
      ...common,
      path: '/models/user',
      name: 'models_user',
      access: 'any',
      handle: withPrincipal((reader) => {
        const own = { ...options(reader, '/models/user'), constraints: reader.principal.constraints }
        return forReader(listModels(dependencies.catalog.current(), own), reader)
      }),
    },
    {
      ...common,
      path: '/models/count',
      name: 'models_count',
      access: 'optional',
      handle: (reader) =>
        forReader(countModels(dependencies.catalog.current(), options(reader, '/models/count')), reader),
    },
    {
      ...common,
      // After the paths above, which this pattern would read as ids. Clients of OpenAI's API escape the slash of an id
      // as %2F.
      path: '/models/:id{.+}',
      name: 'models_retrieve',
      access: 'optional',
      handle: (reader) => forReader(findModel(reader.params['id'] ?? '', dependencies), reader),
    },
    {
      ...common,
      path: '/embeddings/models',
      name: 'embeddings_models',
      access: 'optional',
      handle: (reader) =>
        forReader(
          listEmbeddingModels(dependencies.catalog.current(), options(reader, '/embeddings/models')),
          reader,
        ),
    },
    {
      ...common,
      // Names of local models may have more slashes, and the operator's own names may have none.
      path: '/model/:id{.+}',
      name: 'model',
      access: 'optional',
      handle: (reader) => forReader({ data: findModel(reader.params['id'] ?? '', dependencies) }, reader),
    },
  ]
}

/** Clients made for Anthropic send `anthropic-version` with every request, and read another form. */
function listFor(reader: HttpExchange, options: ListOptions, { catalog }: HttpDependencies): Response {
  const list = reader.request.headers.has('anthropic-version') ? listModelPage : listModels
  const response = forReader(list(catalog.current(), options), reader)
  response.headers.append('vary', 'anthropic-version')
  return response
}

function findModel(id: string, dependencies: HttpDependencies): ModelJson {
  const found = findListedModel(dependencies.catalog.current(), id, dependencies.basePath)
  if (found) return found
  throw new GatewayError(
    'not_found',
    `There is no model "${id.slice(0, 256)}" here; GET /v1/models lists them.`,
  )
}

/** A JSON answer of the catalog. A shared cache must not store an answer that depends on a key. */
export function forReader(body: unknown, reader: HttpExchange): Response {
  const response = jsonResponse(body)
  response.headers.set('cache-control', reader.principal ? 'private, no-store' : 'public, max-age=120')
  response.headers.set('vary', 'authorization')
  return response
}
