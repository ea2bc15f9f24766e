import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { address, call } from '../../api/client.ts'
import type { Operations, Schemas } from '../../api/openapi.gen.ts'
import { useFilters } from '../../app/filters.ts'
import { useMay } from '../../app/session.ts'
import { Button } from '../../parts/button.tsx'
import { CodeBlock } from '../../parts/code.tsx'
import { ExportButton } from '../../parts/export-button.tsx'
import { Failure } from '../../parts/failure.tsx'
import { Figure } from '../../parts/figure.tsx'
import { SelectField } from '../../parts/fields.tsx'
import { Empty, PageHead, Panel, Skeleton, SkeletonRows } from '../../parts/page.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { Money, Nanocredits, Time, TimeHeader } from '../../parts/values.tsx'
import { parseNanocredits } from '../../values/money.ts'

export function Page() {
  const may = useMay()
  return (
    <>
      <PageHead title="Money">
        {may('GET /headrace/ledger/postings/export') && (
          <ExportButton
            from={address('/headrace/ledger/postings/export', {}, { format: 'csv' })}
            name="postings.csv"
          />
        )}
      </PageHead>
      <div className="page-body">
        <BalancePanel />
        <Panel title="Add credits">
          <CodeBlock label="On the gateway’s machine" text="npx headrace credits add 10" />
        </Panel>
        <Postings />
      </div>
    </>
  )
}

type Balance = Operations['GET /headrace/ledger/balance']['answer']['data']
type Posting = Schemas['Posting']

const liveMs = 5000

/** The balance as a sum that can be checked by eye. */
function BalancePanel() {
  const balance = useQuery({
    queryKey: ['balance'],
    queryFn: async ({ signal }) => (await call('GET /headrace/ledger/balance', { signal })).data,
    refetchInterval: liveMs,
  })
  const { data } = balance
  return (
    <Panel title="Balance">
      {balance.error !== null && (
        <Failure error={balance.error} onRetry={() => void balance.refetch()} isSlim={data !== undefined} />
      )}
      {balance.isPending && <Skeleton height={44} />}
      {data && <BalanceSum balance={data} />}
    </Panel>
  )
}

function BalanceSum({ balance }: { balance: Balance }) {
  const granted = parseNanocredits(balance.granted_nanocredits)
  const captured = parseNanocredits(balance.captured_nanocredits)
  const held = parseNanocredits(balance.held_nanocredits)
  const rest = parseNanocredits(balance.balance_nanocredits)
  if (rest === null)
    return (
      <div className="stack tight">
        <dl className="figures">
          <Sum word="Spent" amount={captured} />
        </dl>
        <p className="hint">
          The account is tracked: costs are recorded and nothing is refused, so it has no balance.{' '}
          <code>npx headrace org set mode prepaid</code> makes it prepaid.
        </p>
      </div>
    )
  return (
    <dl className="figures sum">
      <Sum word="Granted" amount={granted} />
      <Sum word="− captured" amount={captured} />
      <Sum word="− held" amount={held} />
      <Sum word="= balance" amount={rest} />
    </dl>
  )
}

function Sum({ word, amount }: { word: string; amount: bigint | null }) {
  return (
    <Figure word={word}>
      <Money amount={amount} />
    </Figure>
  )
}

const columns: readonly Column<Posting>[] = [
  {
    key: 'time',
    header: <TimeHeader />,
    phone: 'line-2',
    cell: ({ created_at: at }) => <Time at={at} />,
  },
  { key: 'kind', header: 'Kind', phone: 'line-1', cell: ({ kind }) => kind },
  { key: 'account', header: 'Account', phone: 'wide-only', cell: ({ account }) => account },
  {
    key: 'transaction',
    header: 'Transaction',
    phone: 'line-2-end',
    cell: ({ transaction_id: id }) =>
      id.startsWith('gen-') ? (
        <Link to={`/requests/${id}`} className="mono">
          {id.slice(0, 22)}…
        </Link>
      ) : (
        <span className="mono">{id}</span>
      ),
  },
  {
    key: 'amount',
    header: 'Amount',
    isNumber: true,
    phone: 'line-1-end',
    cell: ({ amount_nanocredits: amount }) => <Nanocredits value={amount} />,
  },
]

const kinds = ['grant', 'capture', 'refund', 'correction'] as const

function Postings() {
  const [filters, setFilters] = useFilters()
  const kind = filters['kind']
  const postings = useInfiniteQuery({
    queryKey: ['postings', kind],
    queryFn: ({ pageParam, signal }) =>
      call('GET /headrace/ledger/postings', {
        query: {
          ...(kind === undefined ? {} : { kind }),
          limit: 50,
          ...(pageParam === null ? {} : { cursor: pageParam }),
        },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor: cursor }) => cursor,
  })
  const rows = (postings.data?.pages ?? []).flatMap(({ data }) => data)
  return (
    <Panel
      title="Postings"
      actions={
        <SelectField
          label="Kind"
          isLabelHidden
          isCompact
          value={kind ?? ''}
          onChange={(value) => setFilters({ kind: value })}
          choices={[{ value: '', label: 'Every kind' }, ...kinds.map((value) => ({ value, label: value }))]}
        />
      }
    >
      {postings.error !== null && (
        <Failure error={postings.error} onRetry={() => void postings.refetch()} isSlim={rows.length > 0} />
      )}
      {postings.isPending && <SkeletonRows />}
      {rows.length > 0 && (
        <Table
          label="Postings"
          columns={columns}
          rows={rows}
          keyOf={({ transaction_id: id, account, amount_nanocredits: amount }) => `${id}${account}${amount}`}
        />
      )}
      {postings.isSuccess && rows.length === 0 && (
        <Empty title="No posting yet">
          <p>Every grant and every charge stands here, in double entry.</p>
        </Empty>
      )}
      {postings.hasNextPage && (
        <div className="row pager">
          <Button
            isCompact
            isBusy={postings.isFetchingNextPage}
            onClick={() => void postings.fetchNextPage()}
          >
            Older
          </Button>
        </div>
      )}
    </Panel>
  )
}
