import { useQuery, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense, useEffect, useRef, useState, type ReactNode } from 'react'
import { call } from '../api/client.ts'
import { asFailure } from '../api/failure.ts'
import { Failure } from '../parts/failure.tsx'
import { SessionContext, sessionQuery } from './session.ts'
import { systemQuery } from './system.ts'

const SignIn = lazy(() => import('./sign-in.tsx').then(({ SignIn: component }) => ({ default: component })))

const linkPrefix = '#sign-in='

/** The token of a link, taken out of the address at once, so that it stays in no history. */
function takeLink(): string | null {
  const { hash, pathname, search } = window.location
  if (!hash.startsWith(linkPrefix)) return null
  window.history.replaceState(null, '', `${pathname}${search}`)
  return decodeURIComponent(hash.slice(linkPrefix.length))
}

const link = takeLink()
// Once for the page: a link works once, and React renders twice while it is developed.
const signedInByLink =
  link === null ? null : call('POST /headrace/session', { body: { link } }).then(({ data }) => data)
signedInByLink?.catch(() => undefined)

/** Shows the console to who is signed in, and the ways to sign in to everybody else. */
export function SessionGate({ children }: { children: ReactNode }) {
  const queries = useQueryClient()
  const [linkFailure, setLinkFailure] = useState<unknown>(null)
  const [isOpening, setOpening] = useState(signedInByLink !== null)
  useEffect(() => {
    signedInByLink
      ?.then((session) => queries.setQueryData(sessionQuery.queryKey, session))
      .catch(setLinkFailure)
      .finally(() => setOpening(false))
  }, [queries])
  const session = useQuery({ ...sessionQuery, enabled: !isOpening })
  useEffect(() => {
    const signedOut = () => {
      if (queries.getQueryData(sessionQuery.queryKey) === undefined) return
      queries.clear()
      void queries.invalidateQueries(sessionQuery)
    }
    window.addEventListener('headrace:signed-out', signedOut)
    return () => window.removeEventListener('headrace:signed-out', signedOut)
  }, [queries])

  // Read before anything is shown, because the notice that it may bring would push the page down; and beside the session,
  // because most people are signed in. Whoever was not is asked again.
  const system = useQuery({ ...systemQuery, enabled: !isOpening })
  const wasRefused = system.error !== null && asFailure(system.error).status === 401
  const { refetch } = system
  const isSignedIn = session.data !== undefined
  useEffect(() => {
    if (isSignedIn && wasRefused) void refetch()
  }, [isSignedIn, wasRefused, refetch])
  const isKnown = useRef(false)
  if (system.data !== undefined || (system.error !== null && !wasRefused)) isKnown.current = true
  if (session.data !== undefined && isKnown.current)
    return <SessionContext value={session.data}>{children}</SessionContext>
  // While it is asked again the reason is told already.
  const trouble = session.error ?? session.failureReason
  if (trouble !== null && asFailure(trouble).status !== 401)
    return (
      <main className="gate">
        <Failure error={trouble} onRetry={() => void session.refetch()} />
      </main>
    )
  if ((session.isPending || session.data !== undefined) && linkFailure === null)
    return <div className="gate" aria-busy="true" />
  return (
    <Suspense>
      <SignIn linkFailure={linkFailure} />
    </Suspense>
  )
}
