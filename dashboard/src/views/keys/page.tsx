import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { keysQuery, type Key } from '../../api/keys.ts'
import { useFilters } from '../../app/filters.ts'
import { useMay } from '../../app/session.ts'
import { SelectField, TextField } from '../../parts/fields.tsx'
import { Empty, PageHead, SkeletonRows } from '../../parts/page.tsx'
import { Reading } from '../../parts/reading.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { Credits, Time, TimeHeader } from '../../parts/values.tsx'
import { KeyState, LimitBar } from './key-parts.tsx'

const columns: readonly Column<Key>[] = [
  { key: 'name', header: 'name', phone: 'line-1', cell: ({ name }) => <b>{name}</b> },
  { key: 'state', header: 'State', phone: 'line-1-end', cell: (item) => <KeyState item={item} /> },
  {
    key: 'label',
    header: 'Secret',
    phone: 'wide-only',
    cell: ({ label }) => <span className="mono muted">{label}</span>,
  },
  {
    key: 'kind',
    header: 'Kind',
    phone: 'wide-only',
    cell: ({ headrace }) => <span className="tag">{headrace.kind}</span>,
  },
  { key: 'limit', header: 'Limit', phone: 'line-2', cell: (item) => <LimitBar item={item} /> },
  {
    key: 'monthly',
    header: <span title="since the first of the month, UTC">This month</span>,
    isNumber: true,
    phone: 'wide-only',
    cell: ({ usage_monthly: value }) => <Credits value={value} />,
  },
  {
    key: 'usage',
    header: 'In all',
    isNumber: true,
    phone: 'line-2-end',
    cell: ({ usage }) => <Credits value={usage} />,
  },
  {
    key: 'expires',
    header: <TimeHeader word="expires_at" />,
    isNumber: true,
    phone: 'wide-only',
    cell: ({ expires_at: at }) => (at === null ? <span className="muted">never</span> : <Time at={at} />),
  },
]

export function Page() {
  const [filters, setFilters] = useFilters()
  const may = useMay()
  const keys = useQuery(keysQuery)
  const wanted = (filters['name'] ?? '').toLowerCase()
  const kind = filters['kind'] ?? ''
  const rows = (keys.data ?? []).filter(
    ({ name, label, headrace }) =>
      `${name} ${label}`.toLowerCase().includes(wanted) && (kind === '' || headrace.kind === kind),
  )
  return (
    <>
      <PageHead title="Keys" of={keys}>
        {may('POST /keys') && (
          <Link to="/keys/new" className="button primary compact">
            <Plus size={14} aria-hidden />
            Create a key
          </Link>
        )}
      </PageHead>
      <div className="page-body">
        <div className="filters">
          <TextField
            label="Filter by name"
            isLabelHidden
            className="compact"
            placeholder="Name or secret"
            value={filters['name'] ?? ''}
            onChange={(event) => setFilters({ name: event.target.value })}
          />
          <SelectField
            label="Kind"
            isLabelHidden
            isCompact
            value={kind}
            onChange={(value) => setFilters({ kind: value })}
            choices={[
              { value: '', label: 'Every kind' },
              { value: 'inference', label: 'inference' },
              { value: 'management', label: 'management' },
            ]}
          />
        </div>
        <Reading of={keys} place={<SkeletonRows />}>
          {(all) =>
            rows.length > 0 ? (
              <Table
                label="Keys"
                columns={columns}
                rows={rows}
                keyOf={({ hash }) => hash}
                linkOf={({ hash }) => `/keys/${hash}`}
              />
            ) : (
              <Empty title={all.length === 0 ? 'No key yet' : 'No key fits'}>
                <p>
                  {all.length === 0
                    ? 'A program calls the gateway with a key; each can have a limit, an expiry and rules of its own.'
                    : 'Take a filter away to see more.'}
                </p>
              </Empty>
            )
          }
        </Reading>
      </div>
    </>
  )
}
