import { useMutation, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { Download, Layers, RotateCw, Square } from 'lucide-react'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { useMay } from '../../app/session.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Id } from '../../parts/id.tsx'
import { PageHead, Panel, Skeleton, SkeletonRows } from '../../parts/page.tsx'
import { State } from '../../parts/state.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { Credits, Time } from '../../parts/values.tsx'
import { saveFile } from '../../values/download.ts'
import { formatCount } from '../../values/money.ts'
import { BatchProgress, BatchState, isOpen, laneWords, type Batch } from '../batches/batch-parts.tsx'
import { resultsFile, summarizeResults, type ErrorGroup, type ItemResult } from './results.ts'
import { useLiveBatch } from './use-live-batch.ts'

export function Page() {
  const { id = '' } = useParams({ strict: false })
  const live = useLiveBatch(id)
  const { batch, failure } = live
  return (
    <>
      <PageHead
        title="Batch"
        back={{ to: '/batches', word: 'All batches' }}
        beside={<Id value={id} isWhole />}
      >
        {batch !== null && <Actions batch={batch} onChanged={live.again} />}
      </PageHead>
      <div className="page-body">
        {failure !== null && <Failure error={failure} onRetry={live.again} isSlim={batch !== null} />}
        {batch === null && failure === null && <Skeleton height={160} />}
        {batch !== null && (
          <>
            <Summary batch={batch} isLive={live.isLive} />
            <Waiting batch={batch} />
            <Results batch={batch} />
          </>
        )}
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
      {canRead && completed + failed > 0 && (
        <Button isCompact isBusy={isSaving} onClick={() => void save(false)}>
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
          <Figure word="Items" value={formatCount(total)} />
          <Figure word="Done" value={formatCount(completed)} />
          <Figure word="Failed" value={formatCount(failed)} />
          <Figure word="Left" value={formatCount(total - completed - failed)} />
          <div className="figure">
            <dt>Spent</dt>
            <dd>{batch.usage === null ? '–' : <Credits value={batch.usage.cost} />}</dd>
          </div>
        </dl>
        <BatchProgress batch={batch} isThick />
        <dl className="facts">
          <dt>model</dt>
          <dd>{batch.model}</dd>
          <dt>endpoint</dt>
          <dd>{batch.endpoint}</dd>
          <dt>lane</dt>
          <dd>{laneWords[batch.headrace_metadata?.lane ?? ''] ?? '–'}</dd>
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

function Figure({ word, value }: { word: string; value: string }) {
  return (
    <div className="figure">
      <dt>{word}</dt>
      <dd>{value}</dd>
    </div>
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

const itemColumns: readonly Column<ItemResult>[] = [
  {
    key: 'id',
    header: 'custom_id',
    phone: 'line-1',
    cell: ({ custom_id: id }) => <span className="mono">{id}</span>,
  },
  {
    key: 'state',
    header: 'Result',
    phone: 'line-1-end',
    cell: ({ error }) =>
      error === null ? <State kind="ok">Done</State> : <State kind="bad">{error.type}</State>,
  },
  {
    key: 'text',
    header: 'Answer',
    phone: 'line-2',
    cell: (item) => <span className="cut">{excerpt(item)}</span>,
  },
  {
    key: 'cost',
    header: 'Cost',
    isNumber: true,
    phone: 'line-2-end',
    cell: ({ response }) => <Credits value={costOf(response?.body)} />,
  },
]

function Results({ batch }: { batch: Batch }) {
  const may = useMay()
  const { completed, failed } = batch.request_counts
  const results = useQuery({
    queryKey: ['batch-results', batch.id, isOpen(batch) ? null : batch.finalized_at],
    queryFn: ({ signal }) => summarizeResults(batch.id, signal),
    enabled: may('GET /batches/:id/results') && completed + failed > 0 && batch.error?.code !== 402,
    refetchInterval: isOpen(batch) ? 10_000 : false,
  })
  if (!results.isEnabled) return null
  return (
    <>
      {results.error !== null && (
        <Panel title="Results">
          <Failure error={results.error} onRetry={() => void results.refetch()} />
        </Panel>
      )}
      {results.isPending && (
        <Panel title="Results">
          <SkeletonRows rows={4} />
        </Panel>
      )}
      {results.data && results.data.groups.length > 0 && (
        <Panel title="Errors">
          <ul>
            {results.data.groups.map((group) => (
              <GroupRow key={`${group.type}${group.message}`} group={group} />
            ))}
          </ul>
        </Panel>
      )}
      {results.data && (
        <Panel
          title={`Items${results.data.lines > results.data.first.length ? `, the first ${results.data.first.length} of ${formatCount(results.data.lines)}` : ''}`}
        >
          <Table label="Items" columns={itemColumns} rows={results.data.first} keyOf={({ id }) => id} />
        </Panel>
      )}
    </>
  )
}

function GroupRow({ group }: { group: ErrorGroup }) {
  return (
    <li className="error-group">
      <State kind="bad">{group.type}</State>
      <span>{group.message}</span>
      <span className="number">{formatCount(group.count)} items</span>
      <span className="ids small muted cut">{group.customIds.join(', ')}</span>
    </li>
  )
}

/** The beginning of what an item was answered. */
function excerpt({ response, error }: ItemResult): string {
  if (error !== null) return error.message
  const body = response?.body ?? {}
  const choice = (body['choices'] as { message?: { content?: unknown } }[] | undefined)?.[0]
  const text = choice?.message?.content
  if (typeof text === 'string') return text.slice(0, 160)
  const output = body['output'] ?? body['content'] ?? body['data']
  return output === undefined ? '' : JSON.stringify(output).slice(0, 160)
}

function costOf(body: Readonly<Record<string, unknown>> | undefined): number | null {
  const cost = (body?.['usage'] as { cost?: unknown } | undefined)?.cost
  return typeof cost === 'number' ? cost : null
}
