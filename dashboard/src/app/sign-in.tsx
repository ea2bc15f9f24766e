import { useQueryClient } from '@tanstack/react-query'
import { useState, type FormEvent } from 'react'
import { call } from '../api/client.ts'
import { asFailure } from '../api/failure.ts'
import { Button } from '../parts/button.tsx'
import { Failure } from '../parts/failure.tsx'
import { Segments, TextField } from '../parts/fields.tsx'
import { sessionQuery } from './session.ts'
import { Mark } from './mark.tsx'

type Way = 'password' | 'key'

/** The form for a password or a management key; a link needs none. */
export function SignIn({ linkFailure }: { linkFailure: unknown }) {
  const queries = useQueryClient()
  const [way, setWay] = useState<Way>('password')
  const [failure, setFailure] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const text = (name: string) => String(form.get(name) ?? '').trim()
    setBusy(true)
    setFailure(null)
    try {
      const body =
        way === 'key'
          ? { management_key: text('key') }
          : { email: text('email'), password: String(form.get('password')) }
      const { data } = await call('POST /headrace/session', { body })
      queries.setQueryData(sessionQuery.queryKey, data)
    } catch (error) {
      setFailure(error)
      setBusy(false)
    }
  }
  const shown = failure ?? linkFailure
  return (
    <main className="gate">
      <div className="gate-head">
        <Mark />
        <h1>Sign in to Headrace</h1>
      </div>
      {shown !== null && <SignInFailure error={shown} isLink={failure === null} />}
      <form className="stack" onSubmit={(event) => void submit(event)}>
        <Segments
          label="How to sign in"
          value={way}
          onChange={setWay}
          choices={[
            { value: 'password', label: 'Password' },
            { value: 'key', label: 'Management key' },
          ]}
        />
        {way === 'password' ? (
          <>
            <TextField label="Email" name="email" type="email" autoComplete="username" required />
            <TextField
              label="Password"
              name="password"
              type="password"
              autoComplete="current-password"
              required
            />
          </>
        ) : (
          <TextField
            label="Management key"
            name="key"
            type="password"
            autoComplete="off"
            hint="It is exchanged for a session and not kept in this browser."
            required
          />
        )}
        <Button kind="primary" type="submit" isBusy={isBusy}>
          Sign in
        </Button>
      </form>
      <p className="hint">
        No password yet? <code>npx headrace admin link</code> on the gateway’s machine prints a link that
        signs you in once.
      </p>
    </main>
  )
}

function SignInFailure({ error, isLink }: { error: unknown; isLink: boolean }) {
  const { status } = asFailure(error)
  if (!isLink || status !== 401) return <Failure error={error} />
  return (
    <div className="failure" role="alert">
      <p>
        This link was used already or has expired. A link works once, for 24 hours:{' '}
        <code>npx headrace admin link</code> makes another.
      </p>
    </div>
  )
}
