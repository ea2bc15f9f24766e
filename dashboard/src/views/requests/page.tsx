import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { Radio, X } from 'lucide-react'
import { useState } from 'react'
import { address, call } from '../../api/client.ts'
import { keysQuery, type Key } from '../../api/keys.ts'
import { modelsQuery } from '../../api/models.ts'
import type { Schemas } from '../../api/openapi.gen.ts'
import { useFilters, type Filters } from '../../app/filters.ts'
import { useMay } from '../../app/session.ts'
import { Button } from '../../parts/button.tsx'
import { ExportButton } from '../../parts/export-button.tsx'
import { SelectField, Switch, TextField } from '../../parts/fields.tsx'
import { Empty, PageHead, SkeletonRows } from '../../parts/page.tsx'
import { Reading } from '../../parts/reading.tsx'
import { OutcomeState, State } from '../../parts/state.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { Nanocredits, Time, TimeHeader } from '../../parts/values.tsx'
import { compactNumber } from '../../values/money.ts'
import { formatDuration } from '../../values/time.ts'
import { keyFilterOf, keyFilterWords, type NamedKey } from './key-filter.ts'
import { newestFirst, useTail, type RequestsQuery } from './use-tail.ts'

type LoggedRequest = Schemas['LoggedRequest']

const pageSize = 50
/** The filters that the gateway knows; all of them stand in the address. */
const filterNames = [
  'outcome',
  'status',
  'model',
  'provider',
  'key',
  'user',
  'session',
  'error_type',
  'batch',
  'from',
  'to',
] as const

const columns: readonly Column<LoggedRequest>[] = [
  {
    key: 'time',
    header: <TimeHeader />,
    phone: 'line-2',
    cell: ({ created_at: at }) => <Time at={at} />,
  },
  {
    key: 'outcome',
    header: 'Outcome',
    phone: 'line-1-end',
    cell: ({ outcome, status }) => <OutcomeState outcome={outcome} status={status} />,
  },
  {
    key: 'model',
    header: 'model',
    phone: 'line-1',
    cell: ({ model, operation }) => model ?? <span className="muted">{operation ?? 'not read'}</span>,
  },
  { key: 'provider', header: 'Provider', phone: 'wide-only', cell: ({ provider_name: name }) => name ?? '–' },
  { key: 'key', header: 'Key', phone: 'wide-only', cell: ({ key_name: name }) => name ?? '–' },
  {
    key: 'tokens',
    header: 'Tokens in / out',
    isNumber: true,
    phone: 'wide-only',
    cell: ({ prompt_tokens: input, completion_tokens: output }) =>
      input === 0 && output === 0 ? '–' : `${compactNumber(input)} / ${compactNumber(output)}`,
  },
  {
    key: 'first',
    header: 'First byte',
    isNumber: true,
    phone: 'wide-only',
    cell: ({ first_byte_ms: ms }) => (ms === null ? '–' : formatDuration(ms)),
  },
  {
    key: 'total',
    header: 'Total',
    isNumber: true,
    phone: 'wide-only',
    cell: ({ total_ms: ms }) => formatDuration(ms),
  },
  {
    key: 'cost',
    header: 'Cost',
    isNumber: true,
    phone: 'line-2-end',
    cell: ({ cost_nanocredits: cost }) => <Nanocredits value={cost} />,
  },
]

export function Page() {
  const [filters, setFilters] = useFilters()
  const may = useMay()
  const isTailing = filters['tail'] === 'on'
  const query = queryOf(filters)
  const list = useInfiniteQuery({
    queryKey: ['requests', query],
    queryFn: ({ pageParam, signal }) =>
      call('GET /headrace/requests', {
        query: { ...query, limit: pageSize, ...(pageParam === null ? {} : { cursor: pageParam }) },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor: cursor }) => cursor,
  })
  const tail = useTail(query, isTailing)
  const pages = list.data?.pages ?? []
  const rows = [...tail.rows, ...pages.flatMap(({ data }) => data)]
  const shown = isTailing ? newestFirst(rows) : pages.flatMap(({ data }) => data)
  const last = pages.at(-1)
  const isFiltered = filterNames.some((name) => filters[name] !== undefined)
  return (
    <>
      <PageHead
        title="Requests"
        of={
          tail.failure === null
            ? list
            : { data: rows, error: tail.failure, failureReason: null, refetch: list.refetch }
        }
      >
        <Switch
          label={
            <span className="row">
              <Radio size={14} aria-hidden />
              Live
            </span>
          }
          isOn={isTailing}
          onChange={(isOn) => setFilters({ tail: isOn ? 'on' : null })}
        />
        {may('GET /headrace/requests/export') && (
          <ExportButton
            from={address('/headrace/requests/export', {}, { ...query, format: 'csv' })}
            name="requests.csv"
          />
        )}
      </PageHead>
      <div className="page-body">
        <FilterBar
          filters={filters}
          onChange={setFilters}
          isFiltered={isFiltered}
          shownKeys={shown.flatMap(({ key_id: id, key_name: name }) =>
            id === null || name === null ? [] : [{ id, name }],
          )}
        />
        <Reading of={list} place={<SkeletonRows rows={12} />}>
          {() =>
            shown.length > 0 && (
              <Table
                label="Requests"
                columns={columns}
                rows={shown}
                keyOf={({ id }) => id}
                linkOf={({ id }) => `/requests/${id}`}
              />
            )
          }
        </Reading>
        {list.isSuccess && (
          <Bound
            isEmpty={shown.length === 0}
            isFiltered={isFiltered}
            searchedTo={last?.searched_to ?? null}
            hasMore={list.hasNextPage}
            isReading={list.isFetchingNextPage}
            onMore={() => void list.fetchNextPage()}
          />
        )}
      </div>
    </>
  )
}

function queryOf(filters: Filters): RequestsQuery {
  return Object.fromEntries(
    filterNames.flatMap((name) => {
      const value = filters[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

const outcomeChoices = [
  { value: '', label: 'Every outcome' },
  { value: 'answered', label: 'answered' },
  { value: 'failed', label: 'failed' },
  { value: 'refused', label: 'refused' },
  { value: 'failed,refused', label: 'failed or refused' },
  { value: 'cancelled', label: 'cancelled' },
]

const spanChoices = [
  { value: '', label: 'Last 24 hours' },
  { value: '1', label: 'Last hour' },
  { value: '168', label: 'Last 7 days' },
  { value: '720', label: 'Last 30 days' },
  { value: 'own', label: 'Chosen span' },
]

function FilterBar({
  filters,
  onChange,
  isFiltered,
  shownKeys,
}: {
  filters: Filters
  onChange: (changes: Record<string, string | null>) => void
  isFiltered: boolean
  /** Keys of the calls in the table. Some are not in the list of keys: the console calls with a key of each person’s own. */
  shownKeys: readonly NamedKey[]
}) {
  const models = useQuery(modelsQuery)
  const queries = useQueryClient()
  const keys = useQuery({ ...keysQuery, enabled: filters['key'] !== undefined })
  const add = async (name: string, value: string) => {
    if (name !== 'key') return onChange({ [name]: value })
    const listed = await queries.fetchQuery({ ...keysQuery, retry: false }).catch(() => [])
    onChange({ key: keyFilterOf(value, [...listed.map(toNamed), ...shownKeys]) })
  }
  const span = spanOf(filters)
  const rest = ['provider', 'key', 'user', 'session', 'error_type', 'batch'] as const
  const clear = () => onChange(Object.fromEntries(filterNames.map((name) => [name, null])))
  return (
    <div className="filters" role="search" aria-label="Filters">
      <SelectField
        label="Time"
        isLabelHidden
        isCompact
        value={span}
        onChange={(hours) =>
          onChange(
            hours === '' || hours === 'own'
              ? { from: null, to: null }
              : { from: new Date(Date.now() - Number(hours) * 3_600_000).toISOString(), to: null },
          )
        }
        choices={spanChoices.filter(({ value }) => value !== 'own' || span === 'own')}
      />
      <SelectField
        label="Outcome"
        isLabelHidden
        isCompact
        value={filters['outcome'] ?? ''}
        onChange={(outcome) => onChange({ outcome })}
        choices={outcomeChoices}
      />
      <SelectField
        label="model"
        isLabelHidden
        isCompact
        value={filters['model'] ?? ''}
        onChange={(model) => onChange({ model })}
        choices={[
          { value: '', label: 'Every model' },
          ...[
            ...new Set([
              ...(models.data ?? []).map(({ id }) => id),
              ...(filters['model'] ? [filters['model']] : []),
            ]),
          ].map((id) => ({ value: id, label: id })),
        ]}
      />
      <MoreFilter onAdd={(name, value) => void add(name, value)} />
      {rest.map((name) =>
        filters[name] === undefined ? null : (
          <Button key={name} isCompact onClick={() => onChange({ [name]: null })}>
            {name}:{' '}
            {name === 'key'
              ? keyFilterWords(filters[name], [...(keys.data ?? []).map(toNamed), ...shownKeys])
              : filters[name]}
            <X size={12} aria-label="remove" />
          </Button>
        ),
      )}
      {filters['status'] !== undefined && (
        <Button isCompact onClick={() => onChange({ status: null })}>
          status: {filters['status']}
          <X size={12} aria-label="remove" />
        </Button>
      )}
      {isFiltered && (
        <Button isCompact kind="quiet" onClick={clear}>
          Clear
        </Button>
      )}
    </div>
  )
}

function toNamed({ name, headrace }: Key): NamedKey {
  return { id: headrace.id, name }
}

const valueHints: Readonly<Record<string, string>> = { status: '429, 5xx', key: 'name or id' }
const moreNames = ['status', 'provider', 'key', 'user', 'session', 'error_type', 'batch'] as const

function MoreFilter({ onAdd }: { onAdd: (name: string, value: string) => void }) {
  const [name, setName] = useState<(typeof moreNames)[number]>('status')
  const [value, setValue] = useState('')
  return (
    <form
      className="row"
      onSubmit={(event) => {
        event.preventDefault()
        if (value.trim() !== '') onAdd(name, value.trim())
        setValue('')
      }}
    >
      <SelectField
        label="Another filter"
        isLabelHidden
        isCompact
        value={name}
        onChange={setName}
        choices={moreNames.map((one) => ({ value: one, label: one }))}
      />
      <TextField
        label={`Value of ${name}`}
        isLabelHidden
        className="compact"
        placeholder={valueHints[name] ?? 'is'}
        value={value}
        onChange={(event) => setValue(event.target.value)}
      />
    </form>
  )
}

function spanOf({ from, to }: Filters): string {
  if (from === undefined && to === undefined) return ''
  if (to !== undefined || from === undefined) return 'own'
  const hours = (Date.now() - Date.parse(from)) / 3_600_000
  return (
    spanChoices.find(({ value }) => Math.abs(Number(value) - hours) < 0.5 && Number(value) > 0)?.value ??
    'own'
  )
}

/** How far the search has come, and the way on. */
function Bound({
  isEmpty,
  isFiltered,
  searchedTo,
  hasMore,
  isReading,
  onMore,
}: {
  isEmpty: boolean
  isFiltered: boolean
  searchedTo: string | null
  hasMore: boolean
  isReading: boolean
  onMore: () => void
}) {
  if (isEmpty && !hasMore)
    return (
      <Empty title={isFiltered ? 'No request fits' : 'No request in the last 24 hours'}>
        <p>
          {isFiltered
            ? 'Take a filter away, or choose a longer time.'
            : 'A call stands here a second after it ends.'}
        </p>
      </Empty>
    )
  return (
    <div className="row pager">
      {hasMore && (
        <Button isCompact isBusy={isReading} onClick={onMore}>
          {isEmpty ? 'Search on' : 'Older'}
        </Button>
      )}
      {hasMore && searchedTo !== null && (
        <State kind="idle">
          <span>
            searched to <Time at={searchedTo} />
          </span>
        </State>
      )}
    </div>
  )
}
