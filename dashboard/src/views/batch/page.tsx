import { useMutation } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { Download, Layers, RotateCw, Square } from 'lucide-react'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { useMay } from '../../app/session.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Figure } from '../../parts/figures.tsx'
import { Id } from '../../parts/id.tsx'
import { PageHead, Panel, Skeleton } from '../../parts/page.tsx'
import { Reading, type Readable } from '../../parts/reading.tsx'
import { State } from '../../parts/state.tsx'
import { Credits, Time } from '../../parts/values.tsx'
import { saveFile } from '../../values/download.ts'
import { formatCount } from '../../values/money.ts'
import { BatchProgress, BatchState, isOpen, laneWords, type Batch } from '../batches/batch-parts.tsx'
import { Results } from './results-view.tsx'
import { resultsFile } from './results.ts'
import { useLiveBatch } from './use-live-batch.ts'

export function Page() {
  const { id = '' } = useParams({ strict: false })
  // Another batch begins anew.
  return <BatchPage key={id} id={id} />
}

function BatchPage({ id }: { id: string }) {
  const live = useLiveBatch(id)
  const { batch } = live
  const reading: Readable<Batch> = {
    data: batch ?? undefined,
    error: live.failure,
    failureReason: null,
    refetch: () => Promise.resolve(live.again()),
  }
  return (
    <>
      <PageHead
        of={reading}
        title="Batch"
        back={{ to: '/batches', word: 'All batches' }}
        beside={<Id value={id} isWhole />}
      >
        {batch === null ? (
          <span className="actions-place" aria-hidden />
        ) : (
          <Actions batch={batch} onChanged={live.again} />
        )}
      </PageHead>
      <div className="page-body">
        <Reading of={reading} place={<Skeleton height={160} />}>
          {(data) => (
            <>
              <Summary batch={data} isLive={live.isLive} />
              <Waiting batch={data} />
              <Results batch={data} />
            </>
          )}
        </Reading>
      </div>
    </>
  )
}

function Actions({ batch, onChanged }: { batch: Batch; onChanged: () => void }) {
  const may = useMay()
  const navigate = useNavigate()
  const [asks, setAsks] = useState(false)
  const path = { id: batch.id }
  const cancel = useMutation({
    mutationFn: () => call('POST /batches/{id}/cancel', { path }),
    onSuccess: onChanged,
  })
  const retry = useMutation({
    mutationFn: () => call('POST /batches/{id}/retry', { path }),
    onSuccess: (made) => {
      if (made !== null && 'id' in made) void navigate({ to: `/batches/${made.id}` })
    },
  })
  const [isSaving, setSaving] = useState(false)
  const [failure, setFailure] = useState<unknown>(null)
  const save = async (isFailedOnly: boolean) => {
    setSaving(true)
    setFailure(null)
    try {
      const blob = await resultsFile(batch.id, isFailedOnly)
      saveFile(blob, `${batch.id}${isFailedOnly ? '-failed' : ''}.jsonl`)
    } catch (error) {
      setFailure(error)
    } finally {
      setSaving(false)
    }
  }
  const { completed, failed } = batch.request_counts
  const problem = failure ?? cancel.error ?? retry.error
  const canRead = may('GET /batches/:id/results')
  return (
    <>
      {problem !== null && (
        <span className="wrong" role="alert">
          {problem instanceof Error ? problem.message : String(problem)}
        </span>
      )}
      {canRead && (
        <Button
          isCompact
          isBusy={isSaving}
          disabled={completed + failed === 0}
          onClick={() => void save(false)}
        >
          <Download size={14} aria-hidden />
          Results
        </Button>
      )}
      {canRead && failed > 0 && (
        <Button isCompact disabled={isSaving} onClick={() => void save(true)}>
          Failed items
        </Button>
      )}
      {may('POST /batches/:id/retry') && !isOpen(batch) && failed > 0 && (
        <Button isCompact kind="primary" isBusy={retry.isPending} onClick={() => retry.mutate()}>
          <RotateCw size={14} aria-hidden />
          Retry {formatCount(failed)} failed
        </Button>
      )}
      {may('POST /batches/:id/cancel') && isOpen(batch) && batch.status !== 'cancelling' && (
        <Button isCompact kind="danger" isBusy={cancel.isPending} onClick={() => setAsks(true)}>
          <Square size={12} aria-hidden />
          Cancel
        </Button>
      )}
      {asks && (
        <Confirm
          title="Cancel this batch?"
          verb="Cancel the batch"
          onConfirm={() => {
            setAsks(false)
            cancel.mutate()
          }}
          onClose={() => setAsks(false)}
        >
          Items that run now are finished and charged; the others are closed without a charge. Results that
          are there stay.
        </Confirm>
      )}
    </>
  )
}

function Summary({ batch, isLive }: { batch: Batch; isLive: boolean }) {
  const lane = batch.headrace_metadata?.lane
  const { total, completed, failed } = batch.request_counts
  return (
    <Panel
      title={<BatchState batch={batch} />}
      actions={
        isOpen(batch) && <State kind={isLive ? 'ok' : 'waiting'}>{isLive ? 'Live' : 'Connecting'}</State>
      }
    >
      <div className="stack batch-figures">
        <dl className="figures">
          <Figure word="Items">{formatCount(total)}</Figure>
          <Figure word="Done">{formatCount(completed)}</Figure>
          <Figure word="Failed">{formatCount(failed)}</Figure>
          <Figure word="Left">{formatCount(total - completed - failed)}</Figure>
          <Figure word="Spent">{batch.usage === null ? '–' : <Credits value={batch.usage.cost} />}</Figure>
        </dl>
        <BatchProgress batch={batch} isThick />
        <dl className="facts">
          <dt>model</dt>
          <dd>{batch.model}</dd>
          <dt>endpoint</dt>
          <dd>{batch.endpoint}</dd>
          <dt>lane</dt>
          <dd>{lane === undefined ? '–' : laneWords[lane]}</dd>
          <dt>provider</dt>
          <dd>{batch.provider ?? '–'}</dd>
          <dt>created_at</dt>
          <dd>
            <Time at={batch.created_at} />
          </dd>
          <dt>{batch.finalized_at === null ? 'expires_at' : 'finalized_at'}</dt>
          <dd>
            <Time at={batch.finalized_at ?? batch.expires_at} />
          </dd>
          <dt>Calls</dt>
          <dd>
            <Link to="/requests" search={{ batch: batch.id }}>
              Open in Requests
            </Link>
          </dd>
        </dl>
        <Lanes batch={batch} />
        {batch.error !== null && <p className="wrong">{batch.error.message}</p>}
      </div>
    </Panel>
  )
}

function Lanes({ batch }: { batch: Batch }) {
  const { jobs = [], moved = [] } = batch.headrace_metadata ?? {}
  if (jobs.length === 0 && moved.length === 0) return null
  return (
    <ul className="stack tight small">
      {jobs.map((job, index) => (
        <li key={index} className="row">
          <Layers size={14} aria-hidden />
          Job {index + 1} of the provider: {job.ended_as ?? job.state}, {formatCount(job.items)} items
        </li>
      ))}
      {moved.map(({ from, to, reason, items }) => (
        <li key={`${from}-${to}-${reason}`} className="row">
          {formatCount(items)} items moved from {from} to {to}: {reason}
        </li>
      ))}
    </ul>
  )
}

function Waiting({ batch }: { batch: Batch }) {
  const waiting = batch.headrace_metadata?.waiting
  if (waiting === undefined || !isOpen(batch)) return null
  const causes = waiting.causes ?? [waiting]
  return (
    <Panel title="What items wait for">
      <ul className="stack tight">
        {causes.map((cause) => (
          <li key={`${cause.type}${cause.message}`} className="error-group">
            <State kind="waiting">{cause.type}</State>
            <span>{cause.message}</span>
            <span className="muted">
              {cause.items === undefined ? '' : `${formatCount(cause.items)} items`}
            </span>
            {cause.next_try_at !== undefined && (
              <span className="ids small muted">
                tried next at <Time at={cause.next_try_at} />
              </span>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  )
}
