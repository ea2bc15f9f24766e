import { type Batch, modelOfItem } from '../../../canonical/batch.ts'
import type { Principal } from '../../../canonical/principal.ts'
import { newId } from '../../../core/ids.ts'
import { type FreeSegment, giveSegments, moveSegments } from '../../running/segment-repository.ts'
import { mayMove } from '../choose-lane.ts'
import { countMoves } from '../move-repository.ts'
import { cancelBeforeMs } from './job-deadline.ts'
import { insertJob } from './job-repository.ts'
import type { JobDependencies } from './job-step.ts'
import { newNonce } from './job.ts'

/** The largest segment, uncompressed: a job takes no more of them than surely fit, and gives back what does not. */
const segmentBytes = 4_500_000
/** Segments that one look gives to jobs. */
const plannedSegmentsMax = 1_000

/**
 * Intends jobs for the segments of a native batch that have none. Several processes may do so at once: a segment is given
 * to one job only.
 */
export async function planJobs(batch: Batch, dependencies: JobDependencies): Promise<void> {
  const free = await dependencies.segments.listForJob(batch.id, plannedSegmentsMax)
  if (free.length === 0) return
  const owner = await dependencies.loadPrincipal(batch)
  const byModel = Map.groupBy(free, ({ firstItem }) => modelOfItem(batch, firstItem))
  for (const [model, ofModel] of byModel)
    await planModel(batch, { model, owner, free: ofModel }, dependencies)
}

/** Segments of one model, for which `owner` asks; null while its key may not be used. */
interface Planned {
  model: string
  owner: Principal | null
  free: FreeSegment[]
}

async function planModel(
  batch: Batch,
  { model, owner, free }: Planned,
  dependencies: JobDependencies,
): Promise<void> {
  const { committer, clock, items } = dependencies
  const { endpoint, providerOnly } = batch
  const at = owner === null ? null : items.endpointFor({ principal: owner, endpoint, model, providerOnly })
  const place = at === null ? null : items.placeOf(at.endpointId)
  const isLate = clock.nowMs() >= batch.expiresAtMs - cancelBeforeMs
  if (at === null || place === null || isLate) {
    // A lane that was named is waited for until the deadline; where the key is gone, nobody waits, and the items end.
    if (owner !== null && !mayMove(batch)) return
    const leftItems = free.reduce((sum, { openItems }) => sum + openItems, 0)
    const reason = isLate ? 'deadline' : 'no_matching_endpoint'
    const ordinals = free.map(({ ordinal }) => ordinal)
    await committer.commit('job.intend', [
      moveSegments(batch.id, ordinals),
      ...(owner === null
        ? []
        : countMoves(batch.id, [{ from: 'native', to: 'emulated', reason, items: leftItems }])),
    ])
    return
  }
  const { limits } = place.jobs
  const segmentsMax = Math.max(1, Math.floor(limits.bytes / segmentBytes))
  while (free.length > 0) {
    const taken: number[] = []
    for (let count = 0; free[0] && taken.length < segmentsMax;) {
      count += free[0].openItems
      if (count > limits.items && taken.length > 0) break
      taken.push(free[0].ordinal)
      free.shift()
    }
    const job = {
      id: newId('job', clock.nowMs()),
      batchId: batch.id,
      nonce: newNonce(),
      ...at,
      deploymentId: place.deploymentId,
      credentialId: place.credentialId,
    }
    // A refusal means that another process has planned them.
    await committer.commit('job.intend', [giveSegments(batch.id, job.id, taken), insertJob(job)])
  }
}
