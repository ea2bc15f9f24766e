import { createProcessStateRepository } from '../../insight/state/process-state-repository.ts'
import { joinDeployments } from '../../insight/state/deployment-health.ts'
import type { DeadName } from '../../insight/state/dead-names.ts'
import type { ProcessState } from '../../insight/state/process-state-repository.ts'
import { stateFreshMs } from '../../insight/state/process-states.ts'
import type { CliStorage } from '../context.ts'
import type { Finding } from './finding.ts'
import { listFailingProviders } from './health-repository.ts'

/** Calls in the last hour from which on it is no accident that all of them failed. */
export const failingCallsMin = 3

/** Deployments that are not healthy as the running processes see them, and providers all of whose last calls failed. */
export async function* checkDeployments({ database }: CliStorage): AsyncGenerator<Finding> {
  const subject = 'deployments'
  const told = await createProcessStateRepository(database).list()
  const deployments = joinDeployments([], told)
  const ill = deployments.filter(({ state }) => state !== 'healthy')
  for (const { id, state, lastError, next } of ill) {
    const why = lastError === null ? '' : `: ${lastError.message ?? lastError.type} (${lastError.status})`
    const words = {
      out: 'is refused',
      failing: 'fails',
      cooling_down: 'asks for a pause',
      unknown: 'is not heard of',
    }
    const level = state === 'out' || state === 'failing' ? 'problem' : 'warning'
    yield { level, subject, message: `${id} ${words[state as keyof typeof words]}${why}`, next }
  }
  const failing = await listFailingProviders(database, failingCallsMin)
  for (const { provider, calls } of failing) {
    yield {
      level: 'problem',
      subject,
      message: `${provider} failed all ${calls} calls of the last hour that ended there`,
      next: `npx headrace requests --provider ${provider} --outcome failed`,
    }
  }
  yield* deadNameFindings(told)
  if (ill.length === 0 && failing.length === 0 && deployments.length > 0)
    yield { level: 'ok', subject, message: `${deployments.length} healthy`, next: null }
}

/** Names whose first group answers nobody, as any running process sees it. */
function* deadNameFindings({
  nowMs,
  processes,
}: {
  nowMs: number
  processes: readonly ProcessState[]
}): Generator<Finding> {
  const dead = new Map<string, DeadName>()
  for (const { seenAtMs, deadNames = [] } of processes) {
    if (nowMs - seenAtMs > stateFreshMs) continue
    for (const one of deadNames) dead.set(one.name, one)
  }
  for (const { name, members, isServed, hasOthers } of dead.values()) {
    const why = isServed ? 'fails' : 'is not served'
    const then = hasOthers ? 'its calls go to the groups behind it' : 'no group behind it takes its calls'
    yield {
      level: 'problem',
      subject: 'names',
      message: `the first group of "${name}" ${why} (${members.join(', ')}); ${then}`,
      next: isServed
        ? `npx headrace requests --model ${members[0]?.split(' ')[0] ?? name} --outcome failed --since 1h`
        : 'compare its members with: npx headrace models; then mend "names" of the configuration',
    }
  }
}
