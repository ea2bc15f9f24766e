import type { Schemas } from '../../api/openapi.gen.ts'
import { State, type StateKind } from '../../parts/state.tsx'
import { formatCount } from '../../values/money.ts'

export type Batch = Schemas['Batch']

const states: Readonly<Record<Batch['status'], { kind: StateKind; word: string }>> = {
  validating: { kind: 'running', word: 'Queued' },
  in_progress: { kind: 'running', word: 'Running' },
  finalizing: { kind: 'running', word: 'Finalizing' },
  completed: { kind: 'ok', word: 'Completed' },
  failed: { kind: 'bad', word: 'Failed' },
  expired: { kind: 'bad', word: 'Expired' },
  cancelling: { kind: 'waiting', word: 'Cancelling' },
  cancelled: { kind: 'ended', word: 'Cancelled' },
}

export function BatchState({ batch }: { batch: Batch }) {
  const waiting = batch.headrace_metadata?.waiting
  if (waiting?.type === 'payment_required') return <State kind="warn">Waits for credits</State>
  if (batch.error?.code === 402) return <State kind="warn">Results wait for credits</State>
  const { kind, word } = states[batch.status]
  return <State kind={kind}>{word}</State>
}

export function isOpen({ status }: Batch): boolean {
  return ['validating', 'in_progress', 'finalizing', 'cancelling'].includes(status)
}

/** Done, failed and left, in words; the bar only repeats them. */
export function BatchProgress({ batch, isThick = false }: { batch: Batch; isThick?: boolean }) {
  const { total, completed, failed } = batch.request_counts
  const share = (count: number) => `${total === 0 ? 0 : (count / total) * 100}%`
  return (
    <div className="batch-progress">
      <div className={`bar ${isThick ? 'thick' : ''}`} aria-hidden="true">
        <i className="ok" style={{ width: share(completed) }} />
        <i className="bad" style={{ width: share(failed) }} />
      </div>
      <span className="small muted">{progressWords(batch)}</span>
    </div>
  )
}

export function progressWords({ request_counts: counts }: Batch): string {
  const { total, completed, failed } = counts
  const left = total - completed - failed
  const parts = [`${formatCount(completed)} of ${formatCount(total)}`]
  if (failed > 0) parts.push(`${formatCount(failed)} failed`)
  if (left > 0) parts.push(`${formatCount(left)} left`)
  return parts.join(', ')
}

export const laneWords: Readonly<Record<Schemas['BatchEstimate']['lane'], string>> = {
  native: 'native: the provider’s own batch service',
  flex: 'flex: the provider’s cheaper tier',
  emulated: 'emulated: as live calls',
}
