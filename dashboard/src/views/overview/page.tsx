import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useMemo, type ComponentProps } from 'react'
import { call } from '../../api/client.ts'
import type { Schemas } from '../../api/openapi.gen.ts'
import { useFilters } from '../../app/filters.ts'
import { useMay } from '../../app/session.ts'
import type { Series } from '../../parts/chart.tsx'
import { Segments } from '../../parts/fields.tsx'
import { Figure, Figures, FiguresPlace } from '../../parts/figures.tsx'
import { Empty, PageHead, Panel, Skeleton } from '../../parts/page.tsx'
import { Reading } from '../../parts/reading.tsx'
import { State } from '../../parts/state.tsx'
import { Nanocredits, useZone } from '../../parts/values.tsx'
import {
  compactNumber,
  exactCredits,
  formatAxisMoney,
  formatCount,
  parseNanocredits,
  toFloat,
} from '../../values/money.ts'
import { isRangeName, rangeChoices, rangeOf, type RangeName } from '../../values/ranges.ts'
import { formatShare } from '../../values/share.ts'
import { saveFile } from '../../values/download.ts'
import { Button } from '../../parts/button.tsx'
import { formatDuration, zoneName } from '../../values/time.ts'
import { Legend } from './legend.tsx'
import { seriesColours } from '../../values/series.ts'

// Drawing is 25 kB: the figures are there before it.
const LazyChart = lazy(() =>
  import('../../parts/chart.tsx').then(({ Chart: component }) => ({ default: component })),
)

function Chart(props: ComponentProps<typeof LazyChart>) {
  return (
    <Suspense fallback={<Skeleton height={props.height ?? 180} />}>
      <LazyChart {...props} />
    </Suspense>
  )
}

type Spend = Schemas['Spend']
type By = 'model' | 'key' | 'provider' | 'user'

const byChoices: readonly { value: By; label: string }[] = [
  { value: 'model', label: 'Model' },
  { value: 'key', label: 'Key' },
  { value: 'provider', label: 'Provider' },
  { value: 'user', label: 'User' },
]

const liveMs = 15_000

export function Page() {
  const [filters, setFilters] = useFilters()
  const zone = useZone()
  const range: RangeName = isRangeName(filters['range']) ? filters['range'] : '24h'
  const by = byChoices.find(({ value }) => value === filters['by'])?.value ?? 'model'
  const spend = useQuery({
    queryKey: ['spend', range, by, zone],
    queryFn: async ({ signal }) => {
      const { from, to, bucket } = rangeOf(range, zone, new Date())
      const query = { from: from.toISOString(), to: to.toISOString(), bucket, zone, by }
      return (await call('GET /headrace/spend', { query, signal })).data
    },
    placeholderData: keepPreviousData,
    refetchInterval: liveMs,
  })
  return (
    <>
      <PageHead title="Overview" of={spend}>
        <Segments
          label="Span"
          value={range}
          onChange={(value) => setFilters({ range: value })}
          choices={rangeChoices}
        />
      </PageHead>
      <div className="page-body">
        <Reading of={spend} place={<OverviewPlace />}>
          {(data) => (
            <div className="stack loose">
              <Headline spend={data} />
              {data.total.requests === 0 && data.total.charged_requests === 0 && (
                <Empty title="No call in this span">
                  <p>Calls stand here a second after they end, with what they cost.</p>
                  <Link to="/start" className="button">
                    Make a first call
                  </Link>
                </Empty>
              )}
              <SpendPanel spend={data} by={by} onBy={(value) => setFilters({ by: value })} />
              <RatePanels spend={data} />
            </div>
          )}
        </Reading>
      </div>
    </>
  )
}

function OverviewPlace() {
  return (
    <div className="stack loose">
      <FiguresPlace words={['Spend', 'Requests', 'Errors', 'p50', 'p95', 'Tokens in / out']} hasChange />
      <Skeleton height={420} />
      <Skeleton height={220} />
    </div>
  )
}

function Headline({ spend: { total, before } }: { spend: Spend }) {
  return (
    <Figures>
      <Figure
        word="Spend"
        change={
          <>
            <Nanocredits value={before.cost_nanocredits} /> before
          </>
        }
      >
        <Nanocredits value={total.cost_nanocredits} />
      </Figure>
      <Figure word="Requests" change={`${formatCount(before.requests)} before`}>
        {formatCount(total.requests)}
      </Figure>
      <Figure word="Errors" change={`${errorWords(before)} before`}>
        {errorWords(total)}
      </Figure>
      <Figure word="p50" change={`${duration(before.p50_ms)} before`}>
        {duration(total.p50_ms)}
      </Figure>
      <Figure word="p95" change={`${duration(before.p95_ms)} before`}>
        {duration(total.p95_ms)}
      </Figure>
      <Figure word="Tokens in / out" change={`${tokenWords(before)} before`}>
        {tokenWords(total)}
      </Figure>
    </Figures>
  )
}

function tokenWords({ prompt_tokens: input, completion_tokens: output }: Spend['total']): string {
  return `${compactNumber(input)} / ${compactNumber(output)}`
}

function errorWords({ errors, requests }: Spend['total']): string {
  if (errors === 0 || requests === 0) return formatCount(errors)
  return `${formatCount(errors)} (${formatShare(errors, requests)})`
}

function duration(ms: number | null): string {
  return ms === null ? '–' : formatDuration(ms)
}

function SpendPanel({ spend, by, onBy }: { spend: Spend; by: By; onBy: (by: By) => void }) {
  const zone = useZone()
  const navigate = useNavigate()
  const series = useMemo(() => spendSeries(spend), [spend])
  const drill = (index: number) => {
    const from = spend.buckets[index]
    const to = spend.buckets[index + 1] ?? spend.to
    if (from !== undefined) void navigate({ to: '/requests', search: { from, to } })
  }
  return (
    <Panel
      title={
        <>
          Spend by {by}, {zoneName(zone)}
        </>
      }
      actions={
        <>
          <Button isCompact kind="quiet" onClick={() => saveFile(toCsv(spend), `spend-by-${by}.csv`)}>
            CSV
          </Button>
          <Segments label="Group spend by" value={by} onChange={onBy} choices={byChoices} />
        </>
      }
    >
      <div className="stack">
        <Chart
          label={`Spend by ${by}; the figures are in the table below`}
          kind="bars"
          height={220}
          buckets={spend.buckets}
          series={series}
          format={formatAxisMoney}
          isLastOpen
          onBucket={drill}
        />
        <Legend spend={spend} by={by} colours={series.map(({ colour }) => colour)} />
        <LedgerMark spend={spend} />
        {spend.warnings.map((warning) => (
          <p key={warning} className="hint">
            {warning}
          </p>
        ))}
      </div>
    </Panel>
  )
}

function spendSeries(spend: Spend): Series[] {
  const colours = seriesColours(spend.groups.map(({ id, is_other: isOther }) => (isOther ? null : id)))
  return spend.groups.map((group, index) => ({
    name: group.name,
    colour: colours[index] ?? '--s7',
    values: group.over_time.cost_nanocredits.map((value) => toFloat(parseNanocredits(value) ?? 0n)),
  }))
}

/** A text that no spreadsheet takes for a formula. */
function csvCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return `"${safe.replaceAll('"', '""')}"`
}

/** Every bucket of every group, exact. */
function toCsv(spend: Spend): Blob {
  const rows = spend.groups.flatMap((group) =>
    spend.buckets.map((at, index) => {
      const nanocredits = group.over_time.cost_nanocredits[index] ?? '0'
      return [
        at,
        csvCell(group.name),
        exactCredits(BigInt(nanocredits)),
        nanocredits,
        group.over_time.requests[index] ?? '',
      ].join(',')
    }),
  )
  return new Blob([`bucket,${spend.by},cost,cost_nanocredits,requests\n${rows.join('\n')}\n`], {
    type: 'text/csv',
  })
}

/** Whether the days that the chart covers equal the postings of the ledger, which the gateway sums one by one; always a line. */
function LedgerMark({ spend }: { spend: Spend }) {
  const may = useMay()
  const comparison = useQuery({
    queryKey: ['spend-ledger', spend.from.slice(0, 10), spend.to.slice(0, 10)],
    queryFn: async ({ signal }) => {
      const query = { from: spend.from, to: spend.to }
      return (await call('GET /headrace/spend/ledger', { query, signal })).data
    },
    enabled: may('GET /headrace/spend/ledger'),
    staleTime: 60_000,
    retry: false,
  })
  if (!may('GET /headrace/spend/ledger')) return null
  const { data, error } = comparison
  if (error !== null) return <State kind="idle">not compared with the ledger: {error.message}</State>
  if (data === undefined) return <State kind="idle">compares with the ledger</State>
  if (data.equals) return <State kind="ok">equals the ledger</State>
  return (
    <State kind="bad">
      <span>
        the ledger has <Nanocredits value={data.ledger_nanocredits} />, the sums{' '}
        <Nanocredits value={data.rollups_nanocredits} />
      </span>
    </State>
  )
}

/** For an axis of counts: a tick between two of them has no words. */
function wholeNumber(value: number): string {
  return Number.isInteger(value) ? compactNumber(value) : ''
}

function RatePanels({ spend }: { spend: Spend }) {
  const { over_time: time, buckets } = spend
  const calls = useMemo<Series[]>(
    () => [
      {
        name: 'errors',
        colour: '--bad',
        values: time.errors,
      },
      {
        name: 'answered',
        colour: '--s1',
        values: time.requests.map((count, index) => count - (time.errors[index] ?? 0)),
      },
    ],
    [time],
  )
  const latencies = useMemo<Series[]>(
    () => [
      { name: 'p50', colour: '--s1', values: time.p50_ms },
      { name: 'p95', colour: '--s4', values: time.p95_ms },
    ],
    [time],
  )
  return (
    <div className="overview-charts">
      <Panel title="Requests and errors">
        <Chart
          label="Requests and errors over time"
          kind="bars"
          buckets={buckets}
          series={calls}
          format={wholeNumber}
          isLastOpen
        />
        <RateTable buckets={buckets} series={calls} format={formatCount} />
      </Panel>
      <Panel title="Latency, p50 and p95">
        <Chart
          label="Latency over time"
          kind="lines"
          buckets={buckets}
          series={latencies}
          format={formatDuration}
          isLastOpen
        />
        <RateTable buckets={buckets} series={latencies} format={formatDuration} />
      </Panel>
    </div>
  )
}

function RateTable({
  buckets,
  series,
  format,
}: {
  buckets: readonly string[]
  series: readonly Series[]
  format: (value: number) => string
}) {
  const zone = useZone()
  return (
    <details className="behind">
      <summary>
        {series.map(({ name, colour }) => (
          <span key={name} className="state">
            <span className="swatch" data-colour={colour} />
            {name}&ensp;
          </span>
        ))}
        as a table
      </summary>
      <div className="table-wrap" tabIndex={0} role="region" aria-label="Figures">
        <table className="table compact">
          <thead>
            <tr>
              <th scope="col">Bucket, {zoneName(zone)}</th>
              {series.map(({ name }) => (
                <th key={name} scope="col" className="number">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {buckets.map((at, index) => (
              <tr key={at}>
                <td>
                  {new Date(at).toLocaleString('en-GB', {
                    timeZone: zone,
                    dateStyle: 'medium',
                    timeStyle: 'short',
                  })}
                </td>
                {series.map(({ name, values }) => (
                  <td key={name} className="number">
                    {values[index] == null ? '–' : format(values[index])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  )
}
