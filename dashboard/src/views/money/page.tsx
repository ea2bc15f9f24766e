import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { address, call } from '../../api/client.ts'
import type { Operations, Schemas } from '../../api/openapi.gen.ts'
import { useFilters } from '../../app/filters.ts'
import { useMay, useSession } from '../../app/session.ts'
import { Button } from '../../parts/button.tsx'
import { CodeBlock } from '../../parts/code.tsx'
import { ExportButton } from '../../parts/export-button.tsx'
import { SelectField } from '../../parts/fields.tsx'
import { Figure, Figures, FiguresPlace } from '../../parts/figures.tsx'
import { Empty, PageHead, Panel, SkeletonRows } from '../../parts/page.tsx'
import { Reading } from '../../parts/reading.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { Nanocredits, Time, TimeHeader } from '../../parts/values.tsx'
import { formatWhole, parseNanocredits } from '../../values/money.ts'

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
  return (
    <Panel title="Balance" of={balance}>
      <Reading of={balance} place={<BalancePlace />}>
        {(data) => <BalanceSum balance={data} />}
      </Reading>
    </Panel>
  )
}

/** What the sum will be made of is known from the account's mode. */
function BalancePlace() {
  const { organization } = useSession()
  return organization.account_mode === 'prepaid' ? (
    <FiguresPlace words={['Granted', '− captured', '− held', '= balance']} isSum />
  ) : (
    <div className="stack tight">
      <FiguresPlace words={['Spent']} />
      <TrackedWords />
    </div>
  )
}

function TrackedWords() {
  return (
    <p className="hint">
      The account is tracked: costs are recorded and nothing is refused, so it has no balance.{' '}
      <code>npx headrace org set mode prepaid</code> makes it prepaid.
    </p>
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
        <Figures>
          <Sum word="Spent" amount={captured} />
        </Figures>
        <TrackedWords />
      </div>
    )
  return (
    <Figures isSum>
      <Sum word="Granted" amount={granted} />
      <Sum word="− captured" amount={captured} />
      <Sum word="− held" amount={held} />
      <Sum word="= balance" amount={rest} />
    </Figures>
  )
}

function Sum({ word, amount }: { word: string; amount: bigint | null }) {
  return <Figure word={word}>{amount === null ? '–' : formatWhole(amount)}</Figure>
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
  return (
    <Panel
      title="Postings"
      of={postings}
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
      <Reading of={postings} place={<SkeletonRows />}>
        {({ pages }) => <PostingRows rows={pages.flatMap(({ data }) => data)} />}
      </Reading>
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

function PostingRows({ rows }: { rows: readonly Posting[] }) {
  if (rows.length === 0)
    return (
      <Empty title="No posting yet">
        <p>Every grant and every charge stands here, in double entry.</p>
      </Empty>
    )
  return (
    <Table
      label="Postings"
      columns={columns}
      rows={rows}
      keyOf={({ transaction_id: id, account, amount_nanocredits: amount }) => `${id}${account}${amount}`}
    />
  )
}
