import type { Endpoint } from '../canonical/endpoint.ts'
import type { UpstreamFailure } from '../canonical/upstream.ts'
import type { LogFacts } from '../telemetry/logger.ts'

/**
 * A change in a deployment's health, for its operator. `circuit_open`: one of its endpoints failed, and calls try others
 * first. `credential_lost`: the provider refused the credential, or its account has no money. `recovered`: it answers,
 * and none of its endpoints has failed lately.
 */
export interface HealthChange {
  type: 'circuit_open' | 'credential_lost' | 'recovered'
  /** The endpoint whose call showed it. */
  endpoint: Endpoint
  /** Null when it recovered. */
  failure: UpstreamFailure | null
  /** The provider's own words, in a form that the log may have. */
  said: string | null
}

/** Remembers which deployments are in trouble, so that every change is reported once, however many calls are affected. */
export class Troubles {
  /** Endpoints that failed, by deployment. */
  readonly #failed = new Map<string, Set<string>>()
  readonly #refused = new Set<string>()
  readonly #report: (change: HealthChange) => void

  constructor(report: (change: HealthChange) => void) {
    this.#report = report
  }

  failed(endpoint: Endpoint, failure: UpstreamFailure, said: string | null): void {
    const { id } = endpoint.deployment
    const known = this.#failed.get(id)
    if (known) {
      known.add(endpoint.id)
      return
    }
    this.#failed.set(id, new Set([endpoint.id]))
    this.#report({ type: 'circuit_open', endpoint, failure, said })
  }

  refused(endpoint: Endpoint, failure: UpstreamFailure, said: string | null): void {
    const { id } = endpoint.deployment
    if (this.#refused.has(id)) return
    this.#refused.add(id)
    this.#report({ type: 'credential_lost', endpoint, failure, said })
  }

  /** An endpoint answered. If it failed before, it stays in trouble until `isWell`; otherwise it would change with every second call. */
  answered(endpoint: Endpoint, isWell: (endpointId: string) => boolean): void {
    const { id } = endpoint.deployment
    const wasRefused = this.#refused.delete(id)
    const failed = this.#failed.get(id)
    if (!wasRefused && !failed) return
    for (const endpointId of failed ?? []) if (isWell(endpointId)) failed?.delete(endpointId)
    if (failed && failed.size > 0) return
    this.#failed.delete(id)
    this.#report({ type: 'recovered', endpoint, failure: null, said: null })
  }
}

const messages = {
  circuit_open: 'a deployment fails: others are asked first',
  credential_lost: 'a deployment has lost its credential',
  recovered: 'a deployment has recovered',
} as const satisfies Record<HealthChange['type'], string>

/** The message and the fields of a change's line in the log. */
export function toLogLine({
  type,
  endpoint,
  failure,
  said,
}: HealthChange): [message: string, facts: LogFacts] {
  const { deployment, model } = endpoint
  const facts = { event: type, deployment: deployment.id, provider: deployment.providerName, model }
  if (failure === null) return [messages[type], facts]
  const { error } = failure
  const why = { error_type: error.type, reason: error.message, cause: error.cause }
  return [messages[type], { ...facts, ...why, ...(said === null ? {} : { said }) }]
}
