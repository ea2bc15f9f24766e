import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { ApiFailure } from '../../api/failure.ts'
import { keysQuery, listKeys, type Key } from '../../api/keys.ts'
import { useMay } from '../../app/session.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { Failure } from '../../parts/failure.tsx'
import { SelectField } from '../../parts/fields.tsx'
import { Figure, Figures } from '../../parts/figures.tsx'
import { Id } from '../../parts/id.tsx'
import {
  isLimitWrong,
  LimitFields,
  toLimitChange,
  toLimitText,
  type LimitText,
} from '../../parts/limit-fields.tsx'
import { PageHead, Panel, Skeleton } from '../../parts/page.tsx'
import { Reading } from '../../parts/reading.tsx'
import { Credits, Time } from '../../parts/values.tsx'
import { nextReset } from '../../values/time.ts'
import { useUnsavedSecret } from '../key-new/unsaved-secret.ts'
import { SecretPage } from '../key-new/secret-page.tsx'
import { isNearLimit, KeyState, LimitBar, resetWords } from '../keys/key-parts.tsx'
import { policyWords, rateWords } from './rule-words.ts'

export function Page() {
  const { hash = '' } = useParams({ strict: false })
  const [made, setMade] = useUnsavedSecret()
  const found = useQuery({ queryKey: ['key', hash], queryFn: ({ signal }) => readKey(hash, signal) })
  const item = found.data
  const isOfThisKey = made !== null && made.hash === (item?.hash ?? hash)
  return (
    <>
      <PageHead title={item?.name ?? 'Key'} back={{ to: '/keys', word: 'All keys' }} of={found}>
        {item && <Actions item={item} onRotated={setMade} />}
      </PageHead>
      <div className="page-body narrow">
        {isOfThisKey ? (
          <SecretPage made={made} onSaved={() => setMade(null)} />
        ) : (
          <Reading of={found} place={<Skeleton height={240} />}>
            {(data) => <Details item={data} />}
          </Reading>
        )}
        {made !== null && !isOfThisKey && (
          <p className="hint">
            The secret of “{made.name}” is not saved yet: <Link to={`/keys/${made.hash}`}>show it</Link>.
          </p>
        )}
      </div>
    </>
  )
}

/** A key by the hash of its secret, or by its id, which a rotation does not change. */
async function readKey(name: string, signal: AbortSignal): Promise<Key> {
  if (!name.startsWith('key_')) return (await call('GET /keys/{hash}', { path: { hash: name }, signal })).data
  const item = (await listKeys(signal)).find(({ headrace }) => headrace.id === name)
  if (item !== undefined) return item
  throw new ApiFailure({
    status: 404,
    type: 'not_found',
    message: `There is no key ${name} in the list. It may be a person’s own, whose limit stands under Members.`,
  })
}

function Actions({
  item,
  onRotated,
}: {
  item: Key
  onRotated: (made: { name: string; hash: string; secret: string }) => void
}) {
  const may = useMay()
  const queries = useQueryClient()
  const navigate = useNavigate()
  const [asked, setAsked] = useState<'rotate' | 'delete' | null>(null)
  const [overlap, setOverlap] = useState('86400')
  const path = { hash: item.hash }
  const refresh = () => {
    void queries.invalidateQueries(keysQuery)
    void queries.invalidateQueries({ queryKey: ['key'] })
  }
  const toggle = useMutation({
    mutationFn: () => call('PATCH /keys/{hash}', { path, body: { disabled: !item.disabled } }),
    onSuccess: refresh,
  })
  const rotate = useMutation({
    mutationFn: () => call('POST /keys/{hash}/rotate', { path, body: { overlap_seconds: Number(overlap) } }),
    onSuccess: async ({ data, key }) => {
      onRotated({ name: data.name, hash: data.hash, secret: key })
      queries.setQueryData(['key', data.hash], data)
      void queries.invalidateQueries(keysQuery)
      await navigate({ to: `/keys/${data.hash}`, replace: true })
      // The page has left the former hash: reading the key by it would answer 404.
      queries.removeQueries({ queryKey: ['key', item.hash] })
      void queries.invalidateQueries({ queryKey: ['key'] })
    },
  })
  const remove = useMutation({
    mutationFn: () => call('DELETE /keys/{hash}', { path }),
    onSuccess: () => {
      refresh()
      void navigate({ to: '/keys' })
    },
  })
  const failure = toggle.error ?? rotate.error ?? remove.error
  if (!may('PATCH /keys/:hash')) return null
  return (
    <>
      {failure !== null && (
        <span className="wrong" role="alert">
          {failure.message}
        </span>
      )}
      <Button isCompact isBusy={toggle.isPending} onClick={() => toggle.mutate()}>
        {item.disabled ? 'Enable' : 'Disable'}
      </Button>
      <Button isCompact isBusy={rotate.isPending} onClick={() => setAsked('rotate')}>
        Rotate
      </Button>
      <Button isCompact kind="danger" isBusy={remove.isPending} onClick={() => setAsked('delete')}>
        Delete
      </Button>
      {asked === 'delete' && (
        <Confirm
          title={`Delete “${item.name}”?`}
          verb="Delete the key"
          onClose={() => setAsked(null)}
          onConfirm={() => {
            setAsked(null)
            remove.mutate()
          }}
        >
          Calls with it are refused at once, and it cannot come back. What it spent stays in the books.
        </Confirm>
      )}
      {asked === 'rotate' && (
        <Confirm
          title={`Give “${item.name}” another secret?`}
          verb="Rotate the key"
          onClose={() => setAsked(null)}
          onConfirm={() => {
            setAsked(null)
            rotate.mutate()
          }}
        >
          <div className="stack">
            <p>Limits, rules and what it spent stay with the key.</p>
            <SelectField
              label="The current secret goes on working"
              hint={
                overlap === '0'
                  ? 'Earlier secrets of the key that still work end now too.'
                  : 'Earlier secrets of the key keep the end that they have.'
              }
              value={overlap}
              onChange={setOverlap}
              choices={[
                { value: '0', label: 'not at all: it ends now' },
                { value: '3600', label: 'for an hour' },
                { value: '86400', label: 'for a day' },
                { value: '604800', label: 'for a week' },
              ]}
            />
          </div>
        </Confirm>
      )}
    </>
  )
}

function Details({ item }: { item: Key }) {
  const { policy, rates, id } = item.headrace
  const rules = policyWords(policy)
  const limits = rateWords(rates)
  return (
    <>
      <Panel title="Spending">
        <div className="stack">
          <Figures>
            <Spent word="Today" value={item.usage_daily} />
            <Spent word="This week" value={item.usage_weekly} />
            <Spent word="This month" value={item.usage_monthly} />
            <Spent word="In all" value={item.usage} />
          </Figures>
          <p className="hint">Days, weeks and months are those of UTC, as limits are.</p>
          <LimitForm item={item} />
        </div>
      </Panel>
      <Panel title="Key">
        <dl className="facts">
          <dt>State</dt>
          <dd>
            <KeyState item={item} />
          </dd>
          <dt>id</dt>
          <dd>
            <Id value={id} isWhole />
          </dd>
          <dt>Secret</dt>
          <dd className="mono">{item.label}</dd>
          <dt>kind</dt>
          <dd>{item.headrace.kind}</dd>
          <dt>created_at</dt>
          <dd>
            <Time at={item.created_at} />
          </dd>
          <dt>expires_at</dt>
          <dd>{item.expires_at === null ? 'never' : <Time at={item.expires_at} />}</dd>
          <dt>Rates</dt>
          <dd>{limits.length === 0 ? 'no limit' : limits.map((limit) => <div key={limit}>{limit}</div>)}</dd>
          <dt>Policy</dt>
          <dd>
            {rules.length === 0
              ? 'everything that the organization may use'
              : rules.map((rule) => <div key={rule}>{rule}</div>)}
          </dd>
          <dt>Calls</dt>
          <dd>
            <Link to="/requests" search={{ key: id }}>
              Open in Requests
            </Link>
          </dd>
        </dl>
      </Panel>
    </>
  )
}

function Spent({ word, value }: { word: string; value: number }) {
  return (
    <Figure word={word}>
      <Credits value={value} />
    </Figure>
  )
}

function LimitForm({ item }: { item: Key }) {
  const may = useMay()
  const queries = useQueryClient()
  const [limit, setLimit] = useState<LimitText | null>(null)
  const save = useMutation({
    mutationFn: (text: LimitText) =>
      call('PATCH /keys/{hash}', { path: { hash: item.hash }, body: toLimitChange(text) }),
    onSuccess: () => {
      setLimit(null)
      void queries.invalidateQueries(keysQuery)
      void queries.invalidateQueries({ queryKey: ['key'] })
    },
  })
  if (item.headrace.kind === 'management') return null
  return (
    <div className="stack tight">
      <LimitBar item={item} />
      {item.limit_reset !== null && (
        <p className="hint">
          The limit is for {resetWords[item.limit_reset] ?? item.limit_reset}; it begins again at{' '}
          <Time at={nextReset(item.limit_reset, new Date()).toISOString()} />.
        </p>
      )}
      {isNearLimit(item) && (
        <p className="hint">Calls that may cost more than what is left are refused with 402.</p>
      )}
      {item.limit !== null && item.limit_remaining !== null && item.limit_remaining <= 0 && (
        <p className="wrong">
          Calls with this key are refused with 402 until the limit begins again or is raised.
        </p>
      )}
      {may('PATCH /keys/:hash') && limit === null && (
        <div>
          <Button isCompact onClick={() => setLimit(toLimitText(item))}>
            Change the limit
          </Button>
        </div>
      )}
      {limit !== null && (
        <form
          className="stack tight"
          onSubmit={(event) => {
            event.preventDefault()
            save.mutate(limit)
          }}
        >
          <LimitFields value={limit} onChange={setLimit} />
          <div className="row">
            <Button kind="primary" type="submit" isBusy={save.isPending} disabled={isLimitWrong(limit)}>
              Save
            </Button>
            <Button onClick={() => setLimit(null)}>Back</Button>
          </div>
        </form>
      )}
      {save.error !== null && <Failure error={save.error} />}
    </div>
  )
}
