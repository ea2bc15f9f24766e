import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { call } from '../../api/client.ts'
import { asFailure } from '../../api/failure.ts'
import type { Schemas } from '../../api/openapi.gen.ts'
import { retryWaitMs } from '../../api/retries.ts'
import { Figure, Figures } from '../../parts/figures.tsx'
import { Id } from '../../parts/id.tsx'
import { PageHead, Panel, Skeleton } from '../../parts/page.tsx'
import { Reading } from '../../parts/reading.tsx'
import { OutcomeState, State } from '../../parts/state.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { Money, Nanocredits, Time } from '../../parts/values.tsx'
import { errorWords } from '../../values/error-words.ts'
import { formatCount, parseNanocredits } from '../../values/money.ts'
import { formatDuration } from '../../values/time.ts'
import { Waterfall } from './waterfall.tsx'

type Story = Schemas['LoggedRequestStory']

/** A call that has just ended is written within a second. */
const firstTriesMax = 5
const firstTryMs = 400

export function Page() {
  const { id = '' } = useParams({ strict: false })
  const found = useQuery({
    queryKey: ['request', id],
    queryFn: async ({ signal }) => (await call('GET /headrace/requests/{id}', { path: { id }, signal })).data,
    retry: (count, error) => {
      const { status, mayPass } = asFailure(error)
      return mayPass || (status === 404 && count < firstTriesMax)
    },
    retryDelay: (count, error) => (asFailure(error).status === 404 ? firstTryMs : retryWaitMs(count, error)),
  })
  return (
    <>
      <PageHead
        title="Request"
        back={{ to: '/requests', word: 'All requests' }}
        beside={<Id value={found.data?.id ?? id} />}
        of={found}
      />
      <div className="page-body">
        <Reading of={found} place={<Skeleton height={320} />}>
          {(life) => (
            <>
              <Summary life={life} />
              <Panel title="Course">
                <Waterfall life={life} />
                <Attempts attempts={life.attempts} />
              </Panel>
              {life.excluded.length > 0 && <Excluded life={life} />}
              <Panel title="Money">
                <MoneyPart life={life} />
              </Panel>
              <Panel title="Content">
                <p className="muted">
                  {life.has_content
                    ? 'The content of this call is kept.'
                    : 'The gateway keeps no content of calls.'}
                </p>
              </Panel>
            </>
          )}
        </Reading>
      </div>
    </>
  )
}

function Summary({ life }: { life: Story }) {
  const meaning = life.error_type === null ? null : errorWords(life.error_type)
  return (
    <Panel title={<OutcomeState outcome={life.outcome} status={life.status} />}>
      <div className="stack">
        <Figures>
          <Figure word="Cost">
            <Nanocredits value={life.cost_nanocredits} />
          </Figure>
          <Figure word="First byte">
            {life.first_byte_ms === null ? '–' : formatDuration(life.first_byte_ms)}
          </Figure>
          <Figure word="Total">{formatDuration(life.total_ms)}</Figure>
          <Amounts life={life} />
        </Figures>
        <dl className="facts">
          <Fact name="model">{life.model ?? '–'}</Fact>
          <Fact name="operation">
            {life.operation ?? 'refused before the body was read'}
            {life.streamed ? ', streamed' : ''}
          </Fact>
          <Fact name="Provider">{life.provider_name ?? 'none was asked'}</Fact>
          <Fact name="Time">
            <Time at={life.created_at} />
          </Fact>
          <Fact name="Key">
            {life.key_id === null ? (
              '–'
            ) : (
              <Link to="/requests" search={{ key: life.key_id }}>
                {life.key_name ?? life.key_id}
              </Link>
            )}
          </Fact>
          {life.error_type !== null && (
            <Fact name="error_type">
              <code>{life.error_type}</code>
              {meaning !== null && <p className="hint">{meaning}</p>}
            </Fact>
          )}
          {life.finish_reason !== null && <Fact name="finish_reason">{life.finish_reason}</Fact>}
          {life.generation_id !== null && (
            <Fact name="generation_id">
              <Id value={life.generation_id} isWhole />
            </Fact>
          )}
          {life.user !== null && <Fact name="user">{life.user}</Fact>}
          {life.session_id !== null && (
            <Fact name="session_id">
              <Link to="/requests" search={{ session: life.session_id }}>
                {life.session_id}
              </Link>
            </Fact>
          )}
          {life.batch_id !== null && (
            <Fact name="Batch">
              <Link to={`/batches/${life.batch_id}`}>{life.batch_id}</Link>
            </Fact>
          )}
          {life.client_address !== null && <Fact name="Client">{life.client_address}</Fact>}
        </dl>
      </div>
    </Panel>
  )
}

/** What was used, in the units that the call has. */
function Amounts({ life }: { life: Story }) {
  const { characters = 0, audio_seconds: seconds = 0 } = life.usage ?? {}
  return (
    <>
      {(life.prompt_tokens > 0 || life.completion_tokens > 0) && (
        <Figure word="Tokens in / out">
          {formatCount(life.prompt_tokens)} / {formatCount(life.completion_tokens)}
        </Figure>
      )}
      {characters > 0 && <Figure word="Characters">{formatCount(characters)}</Figure>}
      {seconds > 0 && <Figure word="Seconds of sound">{seconds.toFixed(1)}</Figure>}
    </>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  )
}

/** Why each attempt that failed did, in the provider's own words. */
function Attempts({ attempts }: { attempts: Story['attempts'] }) {
  return attempts
    .filter(({ outcome }) => outcome === 'failed')
    .map((attempt) => (
      <div key={attempt.number} className="attempt-error">
        <State kind="bad">
          {attempt.number}. {attempt.provider_name}
          {attempt.status !== null && ` answered ${attempt.status}`}
        </State>
        <span>
          <code>{attempt.error_type}</code> {attempt.message ?? ''}
        </span>
      </div>
    ))
}

function Excluded({ life }: { life: Story }) {
  return (
    <Panel title="Endpoints that were left out">
      <ul>
        {life.excluded.map(({ provider, model, step, reason }) => (
          <li key={`${provider}${model}${reason}`} className="row excluded">
            <b>{provider}</b>
            <span className="muted cut">{model}</span>
            <span className="grow" />
            <span>{reason === step ? reason : `${step}: ${reason}`}</span>
          </li>
        ))}
      </ul>
    </Panel>
  )
}

const postingColumns: readonly Column<Schemas['Posting']>[] = [
  { key: 'account', header: 'Account', phone: 'line-1', cell: ({ account }) => account },
  { key: 'kind', header: 'Kind', phone: 'line-2', cell: ({ kind }) => kind },
  {
    key: 'amount',
    header: 'Amount',
    isNumber: true,
    phone: 'line-1-end',
    cell: ({ amount_nanocredits: amount }) => <Nanocredits value={amount} />,
  },
]

function MoneyPart({ life }: { life: Story }) {
  const sum = life.postings.reduce(
    (total, posting) => total + (parseNanocredits(posting.amount_nanocredits) ?? 0n),
    0n,
  )
  return (
    <div className="stack">
      <dl className="facts">
        <Fact name="Held">
          {life.hold === null ? 'nothing' : <Nanocredits value={life.hold.amount_nanocredits} />}
        </Fact>
        <Fact name="Charged">
          <Nanocredits value={life.cost_nanocredits ?? '0'} />
          {life.is_estimated && ' (estimated: the provider told no usage)'}
        </Fact>
      </dl>
      {life.postings.length > 0 && (
        <>
          <Table
            label="Postings"
            isCompact
            columns={postingColumns}
            rows={life.postings}
            keyOf={({ account, kind, amount_nanocredits: amount }) => `${account}${kind}${amount}`}
          />
          {sum === 0n ? (
            <State kind="ok">The postings sum to zero</State>
          ) : (
            <State kind="bad">
              The postings sum to <Money amount={sum} />
            </State>
          )}
        </>
      )}
    </div>
  )
}
