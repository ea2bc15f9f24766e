import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { call } from '../../api/client.ts'
import { asFailure } from '../../api/failure.ts'
import type { Schemas } from '../../api/openapi.gen.ts'
import { sessionQuery, useSession, type Session } from '../../app/session.ts'
import { Button } from '../../parts/button.tsx'
import { Failure } from '../../parts/failure.tsx'
import { TextField } from '../../parts/fields.tsx'
import { PageHead, Panel, SkeletonRows } from '../../parts/page.tsx'
import { Reading } from '../../parts/reading.tsx'
import { State } from '../../parts/state.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { Credits, Time } from '../../parts/values.tsx'

export function Page() {
  const session = useSession()
  return (
    <>
      <PageHead title="You" />
      <div className="page-body narrow">
        <Panel title="Signed in">
          <dl className="facts">
            <dt>Email</dt>
            <dd>{session.person.email === '' ? 'none yet' : session.person.email}</dd>
            <dt>Role</dt>
            <dd>{session.role}</dd>
            <dt>Organization</dt>
            <dd>{session.organization.name}</dd>
            <dt>Session ends</dt>
            <dd>
              <Time at={session.expires_at} />, or after 12 hours without use
            </dd>
            <dt>Playground</dt>
            <dd>
              {session.playground.limit === null ? (
                'no limit'
              ) : (
                <>
                  <Credits value={session.playground.limit_remaining} /> left of{' '}
                  <Credits value={session.playground.limit} /> {session.playground.limit_reset ?? 'in all'}
                </>
              )}
            </dd>
          </dl>
        </Panel>
        {session.opened_by !== 'key' && (
          <Panel title={session.person.has_password ? 'Change the password' : 'Set a password'}>
            <PasswordForm session={session} />
          </Panel>
        )}
        <Sessions />
      </div>
    </>
  )
}

type ListedSession = Schemas['ListedSession']

const passwordCharactersMin = 12

function PasswordForm({ session }: { session: Session }) {
  const queries = useQueryClient()
  const [isDone, setDone] = useState(false)
  const save = useMutation({
    mutationFn: (body: Schemas['SetPassword']) => call('POST /headrace/session/password', { body }),
    onSuccess: ({ data }) => {
      queries.setQueryData(sessionQuery.queryKey, data)
      setDone(true)
    },
  })
  // The gateway lets who came by a link set another password without the present one for an hour.
  const needsCurrent =
    session.person.has_password &&
    (session.opened_by !== 'link' ||
      (save.error !== null && asFailure(save.error).param === 'current_password'))
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const text = (name: string) => String(form.get(name) ?? '')
    const current = text('current_password')
    const email = text('email')
    save.mutate({
      password: text('password'),
      ...(current === '' ? {} : { current_password: current }),
      ...(email === '' ? {} : { email }),
    })
  }
  if (isDone) return <State kind="ok">The password is set; your other sessions have ended.</State>
  return (
    <form className="stack" onSubmit={submit}>
      {session.person.email === '' && (
        <TextField label="Email" name="email" type="email" autoComplete="username" required />
      )}
      {needsCurrent && (
        <TextField
          label="Current password"
          name="current_password"
          type="password"
          autoComplete="current-password"
          required
        />
      )}
      <TextField
        label="New password"
        name="password"
        type="password"
        autoComplete="new-password"
        minLength={passwordCharactersMin}
        maxLength={256}
        hint={`At least ${passwordCharactersMin} characters.`}
        required
      />
      {save.error !== null && <Failure error={save.error} />}
      <div>
        <Button kind="primary" type="submit" isBusy={save.isPending}>
          Set the password
        </Button>
      </div>
    </form>
  )
}

function Sessions() {
  const queries = useQueryClient()
  const sessions = useQuery({
    queryKey: ['sessions'],
    queryFn: async ({ signal }) => (await call('GET /headrace/sessions', { signal })).data,
  })
  const end = useMutation({
    mutationFn: (id: string) => call('DELETE /headrace/sessions/{id}', { path: { id } }),
    onSuccess: () => void queries.invalidateQueries({ queryKey: ['sessions'] }),
  })
  const columns = sessionColumns((id) => end.mutate(id))
  return (
    <Panel title="Your sessions" of={sessions}>
      {end.error !== null && <Failure error={end.error} isSlim />}
      <Reading of={sessions} place={<SkeletonRows rows={2} />}>
        {(rows) => <Table label="Your sessions" columns={columns} rows={rows} keyOf={({ id }) => id} />}
      </Reading>
    </Panel>
  )
}

function sessionColumns(onEnd: (id: string) => void): readonly Column<ListedSession>[] {
  return [
    {
      key: 'agent',
      header: 'Browser',
      phone: 'line-1',
      cell: ({ user_agent: agent, is_current: isCurrent }) => (
        <>
          {browserName(agent)} {isCurrent && <span className="tag">this one</span>}
        </>
      ),
    },
    { key: 'address', header: 'Address', phone: 'wide-only', cell: ({ address }) => address || '–' },
    {
      key: 'used',
      header: 'Last used',
      isNumber: true,
      phone: 'line-2',
      phoneWord: 'Last used',
      cell: ({ last_used_at: at }) => <Time at={at} />,
    },
    {
      key: 'end',
      header: <span className="hidden-visually">End</span>,
      isNumber: true,
      phone: 'line-1-end',
      cell: ({ id, is_current: isCurrent }) =>
        isCurrent ? null : (
          <Button isCompact kind="quiet" onClick={() => onEnd(id)}>
            End
          </Button>
        ),
    },
  ]
}

function browserName(agent: string | null): string {
  if (agent === null) return 'unknown'
  const found = /(Firefox|Edg|Chrome|Safari)\/(\d+)/.exec(agent)
  const system = /(Windows|Mac OS X|Android|iPhone|Linux)/.exec(agent)
  return [found?.[1]?.replace('Edg', 'Edge') ?? agent.slice(0, 40), system?.[1]].filter(Boolean).join(' on ')
}
