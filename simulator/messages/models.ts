import { ApiError } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { claudeModels, type Model, modelNamed } from '../models.ts'

function listed(model: Model): JsonObject {
  return {
    type: 'model',
    id: model.snapshot ?? model.id,
    display_name: model.claude?.displayName ?? model.id,
    created_at: new Date(model.created * 1000).toISOString().replace('.000Z', 'Z'),
    capabilities: null,
    deprecated_at: null,
    lifecycle: 'active',
    line: null,
    max_input_tokens: model.contextTokens ?? null,
    max_tokens: model.outputTokensMax ?? null,
  }
}

/** The body of `GET /models` for a caller of Messages. */
export function claudeModelList(): string {
  const data = claudeModels().map(listed)
  const ids = data.map((model) => model['id'])
  return JSON.stringify({ data, has_more: false, first_id: ids[0], last_id: ids.at(-1) })
}

/** The body of `GET /models/{id}` for a caller of Messages. Throws 404 for an unknown one. */
export function claudeModelBody(id: string): string {
  const model = modelNamed(id)
  if (model?.kind === 'messages') return JSON.stringify(listed(model))
  throw new ApiError({ status: 404, message: `model: ${id}` })
}
