import type { Endpoint, EndpointFigures, Percentiles } from '../canonical/endpoint.ts'
import { GatewayError } from '../core/errors.ts'
import type { CatalogView } from './catalog.ts'
import { renderModel, renderPricing, shownParameters, shownRules, type PricingJson } from './model-json.ts'
import type { PricingRulesJson } from './pricing-rules.ts'
import { tagOf } from './permissions.ts'
import { batchableOf, variantsOf } from './variants.ts'

/** One model at one provider as the public catalog shows it; every member that the official client requires is present. */
export interface EndpointJson {
  name: string
  model_id: string
  model_name: string
  /** Zero when no source tells it: the contract allows nothing else. */
  context_length: number
  pricing: PricingJson
  provider_name: string
  /** The name for `provider.only` and the other provider lists. */
  tag: string
  quantization: string | null
  max_completion_tokens: number | null
  max_prompt_tokens: null
  supported_parameters: string[]
  supports_implicit_caching: boolean
  supports_tool_choice: { auto: boolean; function: boolean; none: boolean; required: boolean }
  supports_voice_cloning: boolean
  supports_multiple_audio_references: boolean
  supports_image_reference: boolean
  /** Milliseconds to the first output. This and the following figures are of this process only. */
  latency_last_30m: Percentiles | null
  /** Output tokens a second. */
  throughput_last_30m: Percentiles | null
  /** Percent of the calls that were answered. */
  uptime_last_5m: number | null
  uptime_last_30m: number | null
  uptime_last_1d: number | null
  /** Facts that the contract has no member for; only when there are any. */
  headrace?: { pricing_rules: PricingRulesJson }
}

/** A model and all its endpoints. */
export interface ModelEndpointsJson {
  id: string
  name: string
  created: number
  description: string
  architecture: {
    modality: string
    input_modalities: string[]
    output_modalities: string[]
    tokenizer: string
    instruct_type: null
  }
  endpoints: EndpointJson[]
}

/** An endpoint's performance figures, which the catalog itself does not know. */
export type FiguresOf = (endpoint: Endpoint) => EndpointFigures

/**
 * A model with its endpoints; an id with `:batch` has only those that batches may use. Throws `not_found` for an id that
 * is not served, and for a variant that the model does not have.
 */
export function modelEndpoints(
  catalog: CatalogView,
  modelId: string,
  figuresOf: FiguresOf,
): ModelEndpointsJson {
  const { base, variant } = catalog.resolve(modelId)
  const model = catalog.model(base)
  if (!model || (variant !== null && !variantsOf(model).includes(variant))) {
    throw new GatewayError(
      'not_found',
      `There is no model "${modelId.slice(0, 256)}" here; GET /v1/models lists them.`,
    )
  }
  const isBatch = variant === 'batch'
  const endpoints = isBatch ? batchableOf(model.endpoints) : model.endpoints
  const { id, name, created, architecture } = renderModel(model, {
    endpoints,
    ...(isBatch && { variant }),
  })
  return {
    id,
    name,
    created,
    description: model.description ?? '',
    architecture: { ...architecture, instruct_type: null },
    endpoints: endpoints.map((endpoint) => renderEndpoint(endpoint, catalog, figuresOf(endpoint))),
  }
}

/** Endpoints whose provider stores nothing of the calls, by rising model id; an operator's name has those of its models. */
export function zdrEndpoints(catalog: CatalogView, figuresOf: FiguresOf): EndpointJson[] {
  return catalog
    .models()
    .filter(({ id }) => catalog.placesOf(id) === null)
    .flatMap((model) =>
      model.endpoints
        .filter(({ dataPolicy }) => dataPolicy.zdr)
        .map((endpoint) => renderEndpoint(endpoint, catalog, figuresOf(endpoint))),
    )
}

/** Rendered with its own model's id, which differs from the requested one when that is an operator's name. */
function renderEndpoint(endpoint: Endpoint, catalog: CatalogView, figures: EndpointFigures): EndpointJson {
  const { deployment, model, price, audio } = endpoint
  const parameters = shownParameters(endpoint)
  const takesChoice = parameters.has('tool_choice')
  const hasTools = parameters.has('tools')
  return {
    name: `${deployment.providerName} | ${model}`,
    model_id: model,
    model_name: catalog.model(model)?.name ?? model,
    context_length: endpoint.contextLength ?? 0,
    pricing: renderPricing(endpoint),
    provider_name: deployment.providerName,
    tag: tagOf(endpoint),
    quantization: endpoint.quantization,
    max_completion_tokens: endpoint.outputTokensMax,
    max_prompt_tokens: null,
    supported_parameters: [...parameters],
    // When cache writes have a price of their own, the caller has to ask for them, so caching is not implicit.
    supports_implicit_caching: price.cachedInputToken !== undefined && price.cacheWriteToken === undefined,
    supports_tool_choice: {
      auto: hasTools,
      function: takesChoice,
      none: takesChoice,
      required: takesChoice,
    },
    supports_voice_cloning: audio?.voiceCloning ?? false,
    supports_multiple_audio_references: audio?.multipleReferences ?? false,
    supports_image_reference: audio?.imageReference ?? false,
    latency_last_30m: figures.latencyMs,
    throughput_last_30m: figures.throughput,
    uptime_last_5m: figures.uptime5m,
    uptime_last_30m: figures.uptime30m,
    uptime_last_1d: figures.uptime1d,
    ...shownRules(endpoint),
  }
}
