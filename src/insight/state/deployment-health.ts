import type { DeploymentReport } from './process-report.ts'
import type { ProcessState } from './process-state-repository.ts'
import { stateFreshMs } from './process-states.ts'

/** A configured deployment. */
export interface KnownDeployment {
  id: string
  provider: string
  providerName: string
}

/** How a deployment is, over all processes that said so lately. */
export interface DeploymentHealth extends KnownDeployment, Omit<DeploymentReport, 'id' | 'state' | 'limit'> {
  state: DeploymentReport['state'] | 'unknown'
  limit: number | null
  /** The next step; null when there is nothing to do. */
  next: string | null
  processes: readonly { ownerId: string; state: DeploymentReport['state']; atMs: number }[]
}

const worstFirst = ['out', 'failing', 'cooling_down', 'healthy'] as const

/**
 * Joins what the processes say of each deployment: the worst state counts, places are added, and a deployment of which
 * no process has spoken lately is unknown. Deployments that only other processes know are listed too.
 */
export function joinDeployments(
  known: readonly KnownDeployment[],
  { nowMs, processes }: { nowMs: number; processes: readonly ProcessState[] },
): DeploymentHealth[] {
  const fresh = processes.filter(({ seenAtMs }) => nowMs - seenAtMs <= stateFreshMs)
  const ids = new Map(known.map((deployment) => [deployment.id, deployment]))
  for (const { deployments } of fresh)
    for (const { id } of deployments) if (!ids.has(id)) ids.set(id, { id, provider: id, providerName: id })
  return [...ids.values()].map((deployment) => healthOf(deployment, fresh))
}

function healthOf(deployment: KnownDeployment, processes: readonly ProcessState[]): DeploymentHealth {
  const told = processes.flatMap(({ ownerId, seenAtMs, deployments }) => {
    const report = deployments.find(({ id }) => id === deployment.id)
    return report === undefined ? [] : [{ ownerId, seenAtMs, report }]
  })
  const reports = told.map(({ report }) => report)
  const state = worstFirst.find((one) => reports.some((report) => report.state === one)) ?? 'unknown'
  const newest = reports
    .flatMap(({ lastError }) => (lastError === null ? [] : [lastError]))
    .toSorted((left, right) => right.atMs - left.atMs)[0]
  const lastError = newest ?? null
  return {
    ...deployment,
    state,
    sinceMs: least(reports.map(({ sinceMs }) => sinceMs)),
    nextTryMs: least(reports.map(({ nextTryMs }) => nextTryMs)),
    lastError,
    models: Math.max(0, ...reports.map(({ models }) => models)),
    running: sum(reports.map(({ running }) => running)),
    waiting: sum(reports.map(({ waiting }) => waiting)),
    limit: reports.some(({ limit }) => limit === null) ? null : sum(reports.map(({ limit }) => limit ?? 0)),
    next: nextStepOf(deployment, state, lastError),
    processes: told.map(({ ownerId, seenAtMs, report }) => ({
      ownerId,
      state: report.state,
      atMs: seenAtMs,
    })),
  }
}

/** What an operator does about a deployment; null when there is nothing to do. */
export function nextStepOf(
  { id, providerName }: KnownDeployment,
  state: DeploymentHealth['state'],
  lastError: DeploymentReport['lastError'],
): string | null {
  if (state === 'healthy') return null
  if (state === 'unknown')
    return 'No gateway process has reported lately: is one running? npx headrace doctor'
  if (state === 'out')
    return `${providerName} refuses the key of "${id}", or its account has no money: look at the account, set another key, restart, then: npx headrace doctor`
  if (state === 'cooling_down')
    return `${providerName} asked for fewer calls. It is asked again by itself; if this goes on, raise the limits of the account or add another deployment.`
  return lastError?.type === 'provider_timeout'
    ? `${providerName} does not answer in time: look at its status page; calls are tried elsewhere where another deployment has the model.`
    : `${providerName} fails: look at its status page and at its address in the configuration; calls are tried elsewhere where another deployment has the model.`
}

function least(values: readonly (number | null)[]): number | null {
  const numbers = values.filter((value) => value !== null)
  return numbers.length === 0 ? null : Math.min(...numbers)
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
