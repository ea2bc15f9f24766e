import type { ItemForm } from '../../formats/batch/item-form.ts'
import type { CreateBatch, Created } from '../../batches/ingest/create.ts'
import { GatewayError } from '../../core/errors.ts'
import type { HttpDependencies } from '../http-dependencies.ts'
import type { Authenticated } from '../pipeline.ts'
import { requireJson } from '../request-body.ts'

/**
 * Creates a batch from the request's body. Checks the rate before it reads the body, so that a flood costs no bandwidth.
 * The rate counts created batches: a dry run is refused like the real request but uses nothing up, and a refused body
 * returns its place.
 */
export async function createFromBody(
  exchange: Authenticated,
  { form, isDryRun, betas = null }: { form: ItemForm; isDryRun: boolean; betas?: string | null },
  dependencies: HttpDependencies,
): Promise<Created> {
  const { request, principal } = exchange
  requireJson(request)
  const contentLength = request.headers.get('content-length')
  const asked: CreateBatch = {
    principal,
    form,
    betas,
    body: request.body ?? new Blob([]).stream(),
    contentEncoding: request.headers.get('content-encoding'),
    contentLength: contentLength === null ? null : Number(contentLength),
    idempotencyKey: request.headers.get('idempotency-key'),
    isDryRun,
  }
  return admitted(exchange, { isDryRun, create: () => dependencies.batches.create(asked) }, dependencies)
}

/** Runs `create` within the organization's rate of batches. */
export async function admitted<T>(
  { principal }: Authenticated,
  { isDryRun, create }: { isDryRun: boolean; create: () => Promise<T> },
  { rates }: HttpDependencies,
): Promise<T> {
  const admission = isDryRun ? rates.lookAtBatch(principal) : rates.admitBatch(principal)
  if (admission) await admission
  try {
    return await create()
  } catch (thrown) {
    const isWrong = thrown instanceof GatewayError && thrown.type === 'invalid_request'
    if (isWrong && !isDryRun) await rates.giveBackBatch(principal)
    throw thrown
  }
}
