import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useMay } from '../../app/session.ts'
import { Panel, SkeletonRows } from '../../parts/page.tsx'
import { Reading } from '../../parts/reading.tsx'
import { State } from '../../parts/state.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { Credits } from '../../parts/values.tsx'
import { formatCount } from '../../values/money.ts'
import { isOpen, type Batch } from '../batches/batch-parts.tsx'
import { ResultsReader, type ErrorGroup, type ItemResult, type ResultsSummary } from './results.ts'

const resultsEveryMs = 3000

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

/** What items were answered: errors in groups, and the first of all. */
export function Results({ batch }: { batch: Batch }) {
  const may = useMay()
  const { completed, failed } = batch.request_counts
  const reader = useMemo(() => new ResultsReader(batch.id), [batch.id])
  const results = useQuery({
    queryKey: ['batch-results', batch.id, isOpen(batch) ? null : batch.finalized_at],
    queryFn: ({ signal }) => reader.readOn(signal),
    enabled: may('GET /batches/:id/results') && completed + failed > 0 && batch.error?.code !== 402,
    refetchInterval: isOpen(batch) ? resultsEveryMs : false,
    placeholderData: keepPreviousData,
  })
  const { data } = results
  if (!results.isEnabled) return null
  if (data === undefined)
    return (
      <Panel title="Results">
        <Reading of={results} place={<SkeletonRows rows={4} />}>
          {() => null}
        </Reading>
      </Panel>
    )
  return (
    <>
      <Panel title="Errors">
        {/* Of the height of a group, so that the first one moves nothing. */}
        <ul className="error-groups">
          {data.groups.length === 0 && <li className="muted small">No item has failed.</li>}
          {data.groups.map((group) => (
            <GroupRow key={`${group.type}${group.message}`} group={group} />
          ))}
        </ul>
      </Panel>
      <Panel of={results} title={itemsTitle(data)}>
        <Table label="Items" columns={itemColumns} rows={data.first} keyOf={({ id }) => id} />
      </Panel>
    </>
  )
}

function itemsTitle({ first, lines }: ResultsSummary): string {
  return lines > first.length ? `Items, the first ${first.length} of ${formatCount(lines)}` : 'Items'
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
