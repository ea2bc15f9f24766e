import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { call } from '../../api/client.ts'
import { useFilters } from '../../app/filters.ts'
import { useMay } from '../../app/session.ts'
import { Button } from '../../parts/button.tsx'
import { SelectField } from '../../parts/fields.tsx'
import { Empty, PageHead, SkeletonRows } from '../../parts/page.tsx'
import { Reading } from '../../parts/reading.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { Credits, Time, TimeHeader } from '../../parts/values.tsx'
import { BatchProgress, BatchState, isOpen, type Batch } from './batch-parts.tsx'

const pageSize = 50
const liveMs = 2000

const statuses = ['validating', 'in_progress', 'finalizing', 'completed', 'failed', 'expired', 'cancelled']

const columns: readonly Column<Batch>[] = [
  {
    key: 'id',
    header: 'Batch',
    phone: 'line-1',
    cell: ({ id }) => <span className="mono">{id}</span>,
  },
  { key: 'status', header: 'status', phone: 'line-1-end', cell: (batch) => <BatchState batch={batch} /> },
  { key: 'progress', header: 'Items', phone: 'line-2', cell: (batch) => <BatchProgress batch={batch} /> },
  { key: 'model', header: 'model', phone: 'wide-only', cell: ({ model }) => model },
  {
    key: 'lane',
    header: 'lane',
    phone: 'wide-only',
    cell: ({ headrace_metadata: metadata }) => metadata?.lane ?? '–',
  },
  {
    key: 'cost',
    header: 'Cost',
    isNumber: true,
    phone: 'wide-only',
    cell: ({ usage }) => <Credits value={usage?.cost} />,
  },
  {
    key: 'created',
    header: <TimeHeader word="created_at" />,
    isNumber: true,
    phone: 'line-2-end',
    cell: ({ created_at: at }) => <Time at={at} />,
  },
]

export function Page() {
  const [filters, setFilters] = useFilters()
  const may = useMay()
  const list = useQuery({
    queryKey: ['batches', filters],
    queryFn: ({ signal }) =>
      call('GET /batches', {
        query: {
          limit: pageSize,
          ...(filters['status'] === undefined ? {} : { status: [filters['status']] }),
          ...(filters['after'] === undefined ? {} : { after: filters['after'] }),
        },
        signal,
      }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.data.some(isOpen) === true ? liveMs : 15_000),
  })
  const isFiltered = filters['status'] !== undefined || filters['after'] !== undefined
  return (
    <>
      <PageHead title="Batches" of={list}>
        {may('POST /batches') && (
          <Link to="/batches/new" className="button primary compact">
            <Plus size={14} aria-hidden />
            New batch
          </Link>
        )}
      </PageHead>
      <div className="page-body">
        <div className="filters">
          <SelectField
            label="status"
            isLabelHidden
            isCompact
            value={filters['status'] ?? ''}
            onChange={(status) => setFilters({ status, after: null })}
            choices={[
              { value: '', label: 'Every status' },
              ...statuses.map((value) => ({ value, label: value })),
            ]}
          />
        </div>
        <Reading of={list} place={<SkeletonRows />}>
          {({ data: rows }) =>
            rows.length > 0 ? (
              <Table
                label="Batches"
                columns={columns}
                rows={rows}
                keyOf={({ id }) => id}
                linkOf={({ id }) => `/batches/${id}`}
              />
            ) : (
              <NoBatches isFiltered={isFiltered} />
            )
          }
        </Reading>
        <div className="row pager">
          {filters['after'] !== undefined && (
            <Button isCompact onClick={() => setFilters({ after: null })}>
              Newest
            </Button>
          )}
          {list.data?.has_more === true && (
            <Button isCompact onClick={() => setFilters({ after: list.data?.last_id ?? null })}>
              Older
            </Button>
          )}
        </div>
      </div>
    </>
  )
}

function NoBatches({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered)
    return (
      <Empty title="No batch fits">
        <p>Choose another status to see more.</p>
      </Empty>
    )
  return (
    <Empty title="No batch yet">
      <p>
        A batch is a file of lines, a call each. Its items run when there is room, at a provider’s batch price
        where it has one, and survive a restart.
      </p>
      <Link to="/batches/new" className="button">
        New batch
      </Link>
    </Empty>
  )
}
