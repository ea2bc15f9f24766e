import type { Endpoint } from '../canonical/endpoint.ts'
import type { UpstreamFailure } from '../canonical/upstream.ts'
import type { LogFacts } from '../telemetry/logger.ts'

/**
 * A change in how a deployment fares, for its operator. `circuit_open`: an endpoint of it failed, and others are asked
 * first; `credential_lost`: the provider refused the credential, or its account has no money; `recovered`: it answers, and
 * nothing of it has failed lately.
 */
export interface HealthChange {
  type: 'circuit_open' | 'credential_lost' | 'recovered'
  /** Where it was noticed. */
  endpoint: Endpoint
  /** Null when it recovered. */
  failure: UpstreamFailure | null
  /** The provider's own words as the log may have them. */
  said: string | null
}

/** Knows which deployments are in trouble, so that every change is told once, however many calls meet it. */
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

  /** An endpoint answered. One that failed counts until `isWell` says otherwise: else every second call would be a change. */
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

/** A change as the message and the facts of its line in the log. */
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
