import type { Endpoint } from '../canonical/endpoint.ts'
import { tagOf } from '../catalog/permissions.ts'
import { GatewayError } from '../core/errors.ts'
import { exclusionSteps } from './exclusion.ts'
import type { Exclusion, ExclusionStep, Filter } from './exclusion.ts'
import type { Health } from './health.ts'

/** What was refused, for the error. */
export interface RefusedCandidate {
  model: string
  candidates: readonly Endpoint[]
  filter: Filter
  health: Health
}

/** The error for a model whose endpoints were all left out: it names the check that removed the last ones. */
export function refuseRoute(refused: RefusedCandidate, excluded: readonly Exclusion[]): GatewayError {
  const funnel = funnelOf(refused.candidates.length, excluded)
  const failed = funnel.find(({ endpoint_count: left }) => left === 0)?.step ?? 'credential'
  const metadata = { routing_funnel: funnel, failed_routing_step: failed }
  const { model } = refused
  switch (failed) {
    case 'capability':
      return withMetadata(refuseCapability(refused, excluded), metadata)
    case 'policy':
      return new GatewayError('permission_denied', policyMessage(model, excluded), {
        param: 'model',
        metadata,
      })
    case 'credential':
      return new GatewayError(
        'no_healthy_endpoint',
        `Every provider of ${model} refuses the gateway's credential or has no quota left for it. The operator has to see to it.`,
        { metadata, retryAfterSeconds: retryAfter(refused, excluded) },
      )
    case 'variant':
      return new GatewayError(
        'no_matching_endpoint',
        `${model} has no free endpoint; ask for it without ":free".`,
        {
          param: 'model',
          metadata,
        },
      )
    default:
      return new GatewayError('no_matching_endpoint', preferenceMessage(refused, failed), {
        param: failed,
        metadata,
      })
  }
}

/** Adds routing metadata, except to an error about a field that only the caller can correct. */
function withMetadata(error: GatewayError, metadata: Record<string, unknown>): GatewayError {
  if (error.type !== 'no_matching_endpoint') return error
  return error.with({ metadata: { ...metadata, ...error.metadata } })
}

function funnelOf(
  total: number,
  excluded: readonly Exclusion[],
): { step: ExclusionStep; endpoint_count: number }[] {
  let left = total
  const funnel: { step: ExclusionStep; endpoint_count: number }[] = []
  for (const step of exclusionSteps) {
    const lost = excluded.filter((exclusion) => exclusion.step === step).length
    left -= lost
    if (lost > 0) funnel.push({ step, endpoint_count: left })
  }
  return funnel
}

/** Each endpoint counts under the first thing it lacks; the error should name one that every endpoint lacks. */
function refuseCapability(
  { model, candidates, filter }: RefusedCandidate,
  excluded: readonly Exclusion[],
): GatewayError {
  const unmet = filter.requirements.find(
    (requirement) => !candidates.some((endpoint) => requirement.supports(endpoint)),
  )
  const first = filter.requirements.find(({ field }) => excluded.some(({ reason }) => reason === field))
  const requirement = unmet ?? first
  return (
    requirement?.refuse(candidates) ??
    new GatewayError('no_matching_endpoint', `No endpoint of ${model} can do what is asked.`)
  )
}

const policyRules: Readonly<Record<string, string>> = {
  allowed_models: 'the model is not among the allowed ones',
  ignored_models: 'the model is forbidden',
  allowed_providers: 'none of its providers is among the allowed ones',
  ignored_providers: 'all of its providers are forbidden',
  enforce_zdr: 'none of its providers promises zero data retention',
  deny_data_collection: 'all of its providers store or train on data',
}

function policyMessage(model: string, excluded: readonly Exclusion[]): string {
  const rules = new Set(excluded.flatMap(({ step, reason }) => (step === 'policy' ? [reason] : [])))
  const reasons = [...rules].map((rule) => `${policyRules[rule] ?? rule} (${rule})`)
  return `The policy of your organization or key does not allow ${model}: ${reasons.join(', ')}.`
}

function preferenceMessage({ model, candidates, filter }: RefusedCandidate, step: ExclusionStep): string {
  const slugs = [...new Set(candidates.map(tagOf))].join(', ')
  const message = `${step} leaves no endpoint of ${model}`
  switch (step) {
    case 'provider.only': {
      const { allowedProviders: allowed, allowedProvidersOfKey: ofKey } = filter.constraints
      const named = filter.providerOnly ?? filter.preferences.only ?? []
      const ofBoth = ofKey ? ` and, of those, [${ofKey.join(', ')}] for this key` : ''
      const policy = allowed ? ` and the policy allows [${allowed.join(', ')}]${ofBoth}` : ''
      return `${message}: it names [${named.join(', ')}]${policy}; providers of the model are ${slugs}.`
    }
    case 'provider.ignore':
    case 'provider.order':
      return `${message}; its providers are ${slugs}.`
    case 'provider.require_parameters':
      return `${message}: none supports every parameter that was sent. Leave one out, or the requirement.`
    case 'provider.data_collection':
      return `${message}: all of ${slugs} may store or train on data. Ask with "allow", or for another model.`
    case 'provider.zdr':
      return `${message}: none of ${slugs} promises zero data retention. Leave it out, or ask for another model.`
    case 'provider.quantizations':
      return `${message}. Add another value, such as "unknown".`
    case 'provider.enforce_distillable_text':
      return `${message}: of none is it known that its author allows distillation. Leave it out.`
    default:
      return `${message}: all cost more, or their price is not known. Raise it, or ask for another model.`
  }
}

/** Counts only endpoints that the caller may use: another one may be healthy, but the next call would still be refused. */
function retryAfter({ candidates, health }: RefusedCandidate, excluded: readonly Exclusion[]): number {
  const out = new Set(excluded.flatMap(({ step, endpointId }) => (step === 'credential' ? [endpointId] : [])))
  const waitsMs = candidates.filter(({ id }) => out.has(id)).map((endpoint) => health.waitMsOf(endpoint))
  return Math.max(1, Math.ceil(Math.min(...waitsMs) / 1000))
}
