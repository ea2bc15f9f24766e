import { openAiConvention } from '../formats/openai-convention.ts'
import { batchRoutes } from './handlers/batches.ts'
import { catalogRoutes } from './handlers/catalog.ts'
import { accountRoutes } from './handlers/account.ts'
import { activityRoutes } from './handlers/activity.ts'
import { analyticsRoutes } from './handlers/analytics.ts'
import { gatewayStateRoutes } from './handlers/gateway-state.ts'
import { generationRoutes } from './handlers/generations.ts'
import { ledgerRoutes } from './handlers/ledger.ts'
import { requestRoutes } from './handlers/requests.ts'
import { spendRoutes } from './handlers/spend.ts'
import { endpointRoutes } from './handlers/endpoints.ts'
import { keyRoutes } from './handlers/keys.ts'
import { memberRoutes } from './handlers/members.ts'
import { messageBatchRoutes } from './handlers/message-batches.ts'
import { contractFileRoutes, openAiFileRoutes } from './handlers/files.ts'
import { openAiBatchRoutes } from './handlers/openai-batches.ts'
import { organizationRoutes } from './handlers/organization.ts'
import { sessionRoutes } from './handlers/sessions.ts'
import { speechRoute } from './handlers/speech.ts'
import { textRoutes, tokenCountRoutes } from './handlers/text.ts'
import { transcriptionRoute } from './handlers/transcription.ts'
import type { HttpDependencies } from './http-dependencies.ts'
import type { HttpRoute } from './pipeline.ts'

/**
 * The routes below `/openai/v1`, for clients made for OpenAI: the same handlers, with OpenAI's own defaults and errors
 * where the two contracts differ; batches are made of files there, as OpenAI's are.
 */
export function openAiRoutes(dependencies: HttpDependencies): HttpRoute[] {
  const dialect = { isOpenAiDialect: true } as const
  const shared = [...textRoutes(dependencies), ...catalogRoutes(dependencies)]
  return [
    ...shared.filter(({ path }) => openAiPaths.has(path)),
    transcriptionRoute(dependencies, dialect),
    speechRoute(dependencies, dialect),
    ...openAiFileRoutes(dependencies),
    ...openAiBatchRoutes(dependencies),
  ].map((route) => ({ ...route, convention: openAiConvention }))
}

const openAiPaths: ReadonlySet<string> = new Set([
  '/chat/completions',
  '/completions',
  '/responses',
  '/responses/compact',
  '/embeddings',
  '/models',
  '/models/:id{.+}',
])

/** Every route below the version segment. */
export function routes(dependencies: HttpDependencies): HttpRoute[] {
  return [
    ...textRoutes(dependencies),
    ...tokenCountRoutes(dependencies),
    transcriptionRoute(dependencies),
    speechRoute(dependencies),
    ...batchRoutes(dependencies),
    ...contractFileRoutes(dependencies),
    ...messageBatchRoutes(dependencies),
    ...organizationRoutes(dependencies),
    ...keyRoutes(dependencies),
    ...memberRoutes(dependencies),
    ...sessionRoutes(dependencies),
    ...accountRoutes(dependencies),
    ...generationRoutes(dependencies),
    ...activityRoutes(dependencies),
    ...analyticsRoutes(dependencies),
    ...requestRoutes(dependencies),
    ...spendRoutes(dependencies),
    ...ledgerRoutes(dependencies),
    ...gatewayStateRoutes(dependencies),
    // Before the catalog, which would read `…/endpoints` as the end of an id.
    ...endpointRoutes(dependencies),
    ...catalogRoutes(dependencies),
  ]
}
