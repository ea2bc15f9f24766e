import type { Call } from '../../canonical/call.ts'
import { GatewayError, type Availability } from '../../core/errors.ts'

/** The contract's word for the rule that excluded the last endpoints, by the step of the route. */
const excludedBy: Readonly<Record<string, string | null>> = {
  'provider.zdr': 'data_policy:zdr',
  'provider.data_collection': 'data_policy:training',
  'provider.max_price': 'max_price',
  'provider.require_parameters': 'require_parameters',
  'provider.quantizations': 'quantization',
  'provider.only': 'allowed_providers',
  // The contract has no word for these.
  service_tier: null,
  'provider.enforce_distillable_text': null,
}

/**
 * Adds `availability` to a failure that means that no model of the call could be served: which models were asked for,
 * what excluded them, and whether a later call may be served. Returns any other failure as it is.
 */
export function withAvailability(error: unknown, { model, fallbackModels }: Call): unknown {
  if (!(error instanceof GatewayError)) return error
  const why = reasonOf(error)
  if (why === null) return error
  return error.with({ availability: { ...why, requested_models: [model, ...fallbackModels] } })
}

function reasonOf(error: GatewayError): Omit<Availability, 'requested_models'> | null {
  switch (error.type) {
    case 'model_not_found':
      return { code: 'model_not_found', retryable: false }
    case 'no_matching_endpoint':
      return { ...filteredBy(error), retryable: false }
    case 'upstream_rate_limited':
    case 'quota_used_up':
      return { code: 'capacity_exhausted', retryable: true, ...triedOf(error) }
    case 'no_healthy_endpoint':
    case 'provider_overloaded':
      return { code: 'temporarily_unavailable', retryable: true, ...triedOf(error) }
    default:
      return null
  }
}

function filteredBy({ metadata }: GatewayError): Pick<Availability, 'code' | 'excluded_by'> {
  const rule = excludedBy[String(metadata?.['failed_routing_step'])]
  if (rule === undefined) return { code: 'no_endpoints' }
  if (rule === null) return { code: 'constraint_filtered' }
  return {
    code: rule.startsWith('data_policy') ? 'privacy_restricted' : 'constraint_filtered',
    excluded_by: rule,
  }
}

function triedOf({ metadata }: GatewayError): Pick<Availability, 'affected_providers'> {
  const tried = metadata?.['previous_errors'] as readonly { provider: string }[] | undefined
  const last = metadata?.['provider_name']
  const names = tried?.map(({ provider }) => provider) ?? (typeof last === 'string' ? [last] : [])
  return names.length === 0 ? {} : { affected_providers: [...new Set(names)] }
}
