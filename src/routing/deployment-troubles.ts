import type { Endpoint } from '../canonical/endpoint.ts'
import type { UpstreamFailure } from '../canonical/upstream.ts'
import type { Clock } from '../core/clock.ts'
import type { Health, HealthState } from './health.ts'

/** Deployments whose failures are remembered. */
const troublesMax = 1_000

/** How a deployment that failed is, as its operator sees it. Times are Unix milliseconds. */
export interface DeploymentTrouble {
  deploymentId: string
  /** The worst of its endpoints; `out` until a call was answered after its credential was refused. */
  state: HealthState
  /** Since when it is not healthy; null when it is. */
  sinceMs: number | null
  /** When the next call to it makes sense; null when it does now. */
  nextTryMs: number | null
  lastFailure: { type: string; status: number; said: string | null; atMs: number }
}

/** Health that also tells which deployments failed, and with what. */
export interface WatchedHealth extends Health {
  /** Every deployment that has failed since the start, also those that are healthy again. */
  troubles(): DeploymentTrouble[]
}

interface Failing {
  failure: DeploymentTrouble['lastFailure']
  sinceMs: number
  isRefused: boolean
  /** Endpoints that failed and have not answered since. */
  endpoints: Map<string, Endpoint>
}

/** Remembers the failures of deployments beside their health. A call of a gateway without failures pays nothing for it. */
export function watchDeployments(health: Health, clock: Clock): WatchedHealth {
  const failing = new Map<string, Failing>()

  function note(endpoint: Endpoint, { error, credentialFault }: UpstreamFailure, said: string | null): void {
    const isProviders = credentialFault || error.type === 'upstream_rate_limited' || error.status >= 500
    if (!isProviders) return
    const known = failing.get(endpoint.deployment.id)
    if (!known && failing.size >= troublesMax) return
    const atMs = clock.nowMs()
    const isWell = known === undefined || stateOf(known, health) === 'healthy'
    failing.set(endpoint.deployment.id, {
      failure: { type: error.type, status: error.status, said, atMs },
      sinceMs: isWell ? atMs : known.sinceMs,
      isRefused: credentialFault || (known?.isRefused ?? false),
      endpoints: (known?.endpoints ?? new Map<string, Endpoint>()).set(endpoint.id, endpoint),
    })
  }

  return {
    ...health,
    recordSuccess(endpoint, success) {
      if (failing.size > 0) noteAnswer(failing.get(endpoint.deployment.id), endpoint)
      health.recordSuccess(endpoint, success)
    },
    recordFailure(endpoint, failure, said = null) {
      health.recordFailure(endpoint, failure, said)
      note(endpoint, failure, said)
    },
    troubles: () =>
      [...failing].map(([deploymentId, known]) => {
        const state = stateOf(known, health)
        const waitMs = Math.max(0, ...[...known.endpoints.values()].map((one) => health.waitMsOf(one)))
        return {
          deploymentId,
          state,
          sinceMs: state === 'healthy' ? null : known.sinceMs,
          nextTryMs: waitMs > 0 ? clock.nowMs() + waitMs : null,
          lastFailure: known.failure,
        }
      }),
  }
}

const worstFirst: readonly HealthState[] = ['out', 'failing', 'cooling_down']

function stateOf({ isRefused, endpoints }: Failing, health: Health): HealthState {
  if (isRefused) return 'out'
  const states = new Set([...endpoints.values()].map((endpoint) => health.stateOf(endpoint)))
  return worstFirst.find((one) => states.has(one)) ?? 'healthy'
}

function noteAnswer(known: Failing | undefined, { id }: Endpoint): void {
  if (known === undefined) return
  known.isRefused = false
  known.endpoints.delete(id)
}
