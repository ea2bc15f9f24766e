import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { UserPlus } from 'lucide-react'
import { useState, type FormEvent } from 'react'
import { call } from '../../api/client.ts'
import type { Schemas } from '../../api/openapi.gen.ts'
import { sessionQuery, useMay, useSession } from '../../app/session.ts'
import { Button } from '../../parts/button.tsx'
import { Confirm } from '../../parts/confirm.tsx'
import { CopyWideButton } from '../../parts/copy.tsx'
import { Failure } from '../../parts/failure.tsx'
import { SelectField, TextField } from '../../parts/fields.tsx'
import { PageHead, Panel, SkeletonRows } from '../../parts/page.tsx'
import { Reading } from '../../parts/reading.tsx'
import { State } from '../../parts/state.tsx'
import { Table, type Column } from '../../parts/table.tsx'
import { Credits, Time, TimeHeader } from '../../parts/values.tsx'
import { LimitDialog } from './limit-dialog.tsx'

type Member = Schemas['Member']
type Role = Member['headrace']['role']

const roles: readonly { value: Role; label: string }[] = [
  { value: 'viewer', label: 'viewer: sees figures' },
  { value: 'member', label: 'member: also calls and batches' },
  { value: 'admin', label: 'admin: also keys, people, settings' },
]

interface Link {
  link: string
  expires_at: string
  email: string
}

const membersKey = ['members']

export function Page() {
  const may = useMay()
  const { person } = useSession()
  const queries = useQueryClient()
  const [isInviting, setInviting] = useState(false)
  const [link, setLink] = useState<Link | null>(null)
  const [removed, setRemoved] = useState<Member | null>(null)
  const [limited, setLimited] = useState<Member | null>(null)
  const members = useQuery({
    queryKey: membersKey,
    queryFn: async ({ signal }) =>
      (await call('GET /organization/members', { query: { include: 'all', limit: 100 }, signal })).data,
  })
  const refresh = () => void queries.invalidateQueries({ queryKey: membersKey })
  const setRole = useMutation({
    mutationFn: ({ id, role }: { id: string; role: Role }) =>
      call('PATCH /headrace/members/{id}', { path: { id }, body: { role } }),
    onSettled: refresh,
  })
  const remove = useMutation({
    mutationFn: (id: string) => call('DELETE /headrace/members/{id}', { path: { id } }),
    onSettled: refresh,
  })
  const another = useMutation({
    mutationFn: async (member: Member) => ({
      ...(await call('POST /headrace/members/{id}/link', { path: { id: member.id } })),
      email: member.email,
    }),
    onSuccess: setLink,
  })
  const canChange = may('PATCH /headrace/members/:id')
  const failure = setRole.error ?? remove.error ?? another.error
  const columns = memberColumns({
    canChange,
    ownId: person.id,
    onRole: (id, role) => setRole.mutate({ id, role }),
    onLink: (member) => another.mutate(member),
    onLimit: setLimited,
    onRemove: setRemoved,
  })
  return (
    <>
      <PageHead title="Members" of={members}>
        {may('POST /headrace/members') && (
          <Button isCompact kind="primary" onClick={() => setInviting(true)}>
            <UserPlus size={14} aria-hidden />
            Invite
          </Button>
        )}
      </PageHead>
      <div className="page-body">
        {link !== null && <InviteLink link={link} onSaved={() => setLink(null)} />}
        {isInviting && (
          <InviteForm
            onClose={() => setInviting(false)}
            onInvited={(invited) => {
              setInviting(false)
              setLink(invited)
              refresh()
            }}
          />
        )}
        {failure !== null && <Failure error={failure} isSlim />}
        <Reading of={members} place={<SkeletonRows rows={4} />}>
          {(rows) => <Table label="Members" columns={columns} rows={rows} keyOf={({ id }) => id} />}
        </Reading>
        {limited !== null && (
          <LimitDialog
            name={nameOf(limited)}
            member={limited}
            onClose={() => setLimited(null)}
            onSaved={() => {
              setLimited(null)
              refresh()
              void queries.invalidateQueries(sessionQuery)
            }}
          />
        )}
        {removed !== null && (
          <Confirm
            title={`Remove ${nameOf(removed)}?`}
            verb="Remove the person"
            onClose={() => setRemoved(null)}
            onConfirm={() => {
              remove.mutate(removed.id)
              setRemoved(null)
            }}
          >
            The person’s sessions and links end at once and the playground key is disabled. What was spent
            keeps the name.
          </Confirm>
        )}
      </div>
    </>
  )
}

function nameOf({ first_name: first, last_name: last, email }: Member): string {
  const name = [first, last].filter(Boolean).join(' ')
  if (name !== '') return name
  return email === '' ? 'Unnamed' : email
}

interface MemberTable {
  canChange: boolean
  ownId: string
  onRole: (id: string, role: Role) => void
  onLink: (member: Member) => void
  onLimit: (member: Member) => void
  onRemove: (member: Member) => void
}

function memberColumns(given: MemberTable): readonly Column<Member>[] {
  const states = {
    active: <State kind="ok">Active</State>,
    invited: <State kind="waiting">Invited</State>,
    key: <State kind="idle">By a management key</State>,
  }
  return [
    {
      key: 'name',
      header: 'Person',
      phone: 'line-1',
      cell: (member) => (
        <>
          <b>{nameOf(member)}</b>{' '}
          {member.id === given.ownId ? (
            <span className="tag">you</span>
          ) : (
            <span className="muted">{member.email}</span>
          )}
        </>
      ),
    },
    { key: 'state', header: 'State', phone: 'line-1-end', cell: ({ headrace }) => states[headrace.state] },
    {
      key: 'role',
      header: 'Role',
      phone: 'line-2',
      cell: ({ id, headrace }) =>
        given.canChange && headrace.state !== 'key' ? (
          <SelectField
            label={`Role of ${id}`}
            isLabelHidden
            isCompact
            value={headrace.role}
            onChange={(role) => given.onRole(id, role)}
            choices={roles}
          />
        ) : (
          headrace.role
        ),
    },
    {
      key: 'limit',
      header: 'Playground limit',
      isNumber: true,
      phone: 'wide-only',
      cell: ({ headrace: { playground } }) =>
        playground.limit === null ? (
          <span className="muted">no limit</span>
        ) : (
          <>
            <Credits value={playground.limit} /> {playground.limit_reset ?? 'in all'}
          </>
        ),
    },
    {
      key: 'joined',
      header: <TimeHeader word="Joined" />,
      isNumber: true,
      phone: 'wide-only',
      cell: ({ headrace }) => <Time at={headrace.joined_at} />,
    },
    {
      key: 'actions',
      header: <span className="hidden-visually">Actions</span>,
      isNumber: true,
      phone: 'line-2-end',
      cell: (member) => given.canChange && <MemberActions member={member} given={given} />,
    },
  ]
}

/** What an admin can do with a person: the own role, link and place are left to another admin. */
function MemberActions({ member, given }: { member: Member; given: MemberTable }) {
  const isOther = member.headrace.state !== 'key' && member.id !== given.ownId
  return (
    <>
      <Button
        isCompact
        kind="quiet"
        aria-label={`Limit of ${nameOf(member)}`}
        onClick={() => given.onLimit(member)}
      >
        Limit
      </Button>
      {isOther && (
        <>
          <Button isCompact kind="quiet" onClick={() => given.onLink(member)}>
            New link
          </Button>
          <Button isCompact kind="quiet" onClick={() => given.onRemove(member)}>
            Remove
          </Button>
        </>
      )}
    </>
  )
}

function InviteForm({ onClose, onInvited }: { onClose: () => void; onInvited: (link: Link) => void }) {
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('member')
  const invite = useMutation({
    mutationFn: async () => ({
      ...(await call('POST /headrace/members', { body: { email, role } })),
      email,
    }),
    onSuccess: onInvited,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    invite.mutate()
  }
  return (
    <Panel title="Invite a person">
      <form className="stack" onSubmit={submit}>
        <div className="pair">
          <TextField
            label="Email"
            type="email"
            required
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
          <SelectField label="Role" value={role} onChange={setRole} choices={roles} />
        </div>
        {invite.error !== null && <Failure error={invite.error} />}
        <div className="row">
          <Button kind="primary" type="submit" isBusy={invite.isPending}>
            Make the link
          </Button>
          <Button onClick={onClose}>Back</Button>
        </div>
      </form>
    </Panel>
  )
}

function InviteLink({ link, onSaved }: { link: Link; onSaved: () => void }) {
  return (
    <section className="secret" aria-label="Link">
      <h2>The link for {link.email}</h2>
      <p>
        Send it to the person yourself. It works once, until <Time at={link.expires_at} />, and is not shown
        again.
      </p>
      <output className="secret-text">{link.link}</output>
      <div className="row wrap">
        <CopyWideButton text={link.link} word="Copy the link" />
        <Button onClick={onSaved}>I sent it</Button>
      </div>
    </section>
  )
}
