import { percentileOf } from '../../insight/log/latency-bins.ts'
import { beganAtMs } from '../../insight/log/log-row.ts'
import { joinDeployments } from '../../insight/state/deployment-health.ts'
import { cutSpan } from '../../insight/spend/time-buckets.ts'
import type { HttpDependencies } from '../http-dependencies.ts'
import { type Authenticated, type HttpRoute, jsonResponse, withPrincipal } from '../pipeline.ts'

type Parts = Pick<HttpDependencies, 'insight' | 'clock'>

/** How the gateway is, for management keys. */
export function gatewayStateRoutes(dependencies: HttpDependencies): HttpRoute[] {
  const common = { method: 'GET', group: 'catalog', access: 'management' } as const
  return [
    {
      ...common,
      path: '/headrace/deployments',
      name: 'deployments',
      handle: withPrincipal((exchange) => listDeployments(exchange, dependencies)),
    },
    {
      ...common,
      path: '/headrace/system',
      name: 'system',
      handle: withPrincipal((exchange) => describeSystem(exchange, dependencies)),
    },
    {
      ...common,
      path: '/headrace/doctor',
      name: 'doctor',
      handle: withPrincipal(() => runDoctor(dependencies)),
    },
  ]
}

const halfHourMs = 1_800_000

async function listDeployments({ principal }: Authenticated, { insight, clock }: Parts): Promise<Response> {
  const nowMs = clock.nowMs()
  const recent = cutSpan({ fromMs: nowMs - halfHourMs, toMs: nowMs, bucket: 'month', zone: 'UTC' })
  const [told, calls] = await Promise.all([
    insight.processes.list(),
    insight.sums.sumCalls({
      organizationId: principal.organizationId,
      runs: recent.runs,
      columns: ['provider'],
      filters: [],
    }),
  ])
  const callsOf = new Map<string, { requests: number; errors: number; bins: number[] }>()
  for (const { values, requests, failed, bins } of calls) {
    const [provider = ''] = values
    const known = callsOf.get(provider) ?? { requests: 0, errors: 0, bins: bins.map(() => 0) }
    callsOf.set(provider, {
      requests: known.requests + requests,
      errors: known.errors + failed,
      bins: known.bins.map((count, index) => count + (bins[index] ?? 0)),
    })
  }
  return jsonResponse({
    data: joinDeployments(insight.deployments, told).map((deployment) => {
      const recently = callsOf.get(deployment.provider)
      const { lastError } = deployment
      return {
        id: deployment.id,
        provider: deployment.provider,
        provider_name: deployment.providerName,
        state: deployment.state,
        since: isoOf(deployment.sinceMs),
        next_try_at: isoOf(deployment.nextTryMs),
        last_error: lastError && {
          type: lastError.type,
          status: lastError.status,
          message: lastError.message,
          at: isoOf(lastError.atMs),
        },
        models: deployment.models,
        running: deployment.running,
        waiting: deployment.waiting,
        limit: deployment.limit,
        last_30m: {
          requests: recently?.requests ?? 0,
          errors: recently?.errors ?? 0,
          p50_ms: recently === undefined ? null : percentileOf(recently.bins, 0.5),
        },
        next: deployment.next,
        processes: deployment.processes.map(({ ownerId, state, atMs }) => ({
          id: ownerId,
          state,
          at: isoOf(atMs),
        })),
      }
    }),
  })
}

function isoOf(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString()
}

async function describeSystem({ principal }: Authenticated, { insight }: Parts): Promise<Response> {
  const [{ processes }, queues, oldest] = await Promise.all([
    insight.processes.list(),
    insight.queues.load(),
    insight.search.oldestId(principal.organizationId),
  ])
  const ageOf = (sinceMs: number | null) =>
    sinceMs === null ? null : Math.max(0, Math.round((queues.nowMs - sinceMs) / 1_000))
  const { facts } = insight
  return jsonResponse({
    data: {
      version: facts.version,
      database: facts.database,
      schema_version: queues.schemaVersion,
      now: isoOf(queues.nowMs),
      is_sandbox: facts.isSandbox,
      processes: processes.map((process) => ({
        id: process.ownerId,
        host: process.host,
        pid: process.pid,
        version: process.version,
        role: process.role,
        started_at: isoOf(process.startedAtMs),
        seen_at: isoOf(process.seenAtMs),
        requests_running: process.requestsRunning,
        storage_queue: process.storageQueue,
        captures_queued: process.capturesQueued,
        log_queued: process.logQueued,
        log_dropped: process.logDropped,
      })),
      queues: {
        batches_open: queues.batchesOpen,
        items_waiting: queues.itemsWaiting,
        oldest_waiting_seconds: ageOf(queues.oldestWaitingMs),
        deliveries_waiting: queues.deliveriesWaiting,
        oldest_delivery_seconds: ageOf(queues.oldestDeliveryMs),
      },
      request_log: {
        is_on: facts.requestLogDays > 0,
        days: facts.requestLogDays,
        oldest_at: oldest === null ? null : isoOf(beganAtMs(oldest)),
      },
    },
  })
}

async function runDoctor({ insight, clock }: Parts): Promise<Response> {
  const findings = await insight.diagnose()
  const count = (level: string) => findings.filter((finding) => finding.level === level).length
  return jsonResponse({
    data: {
      checked_at: isoOf(clock.nowMs()),
      problems: count('problem'),
      warnings: count('warning'),
      findings,
    },
  })
}
