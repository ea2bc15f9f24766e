import { CircleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { asFailure } from '../api/failure.ts'
import { Failure } from './failure.tsx'

/** What a panel reads from the gateway, as `useQuery` and `useInfiniteQuery` tell it. */
export interface Readable<T> {
  data: T | undefined
  error: Error | null
  /** Why the last try failed, though another one follows. */
  failureReason: Error | null
  refetch: () => Promise<unknown>
}

/**
 * What is read, in a place of the final height until it is there. A failure is told at the first try, while others follow.
 * Data that was there stays; `Stale` in the head of the panel or page then tells that it is old.
 */
export function Reading<T>({
  of: query,
  place,
  children,
}: {
  of: Readable<T>
  place: ReactNode
  children: (data: T) => ReactNode
}) {
  if (query.data !== undefined) return children(query.data)
  const trouble = troubleOf(query)
  if (trouble === null) return place
  return <Failure error={trouble} onRetry={() => void query.refetch()} />
}

/** Tells that data is old because reading it again fails: one line of a head, which moves nothing. The rest opens. */
export function Stale({ of: query }: { of: Readable<unknown> }) {
  const trouble = troubleOf(query)
  if (query.data === undefined || trouble === null) return null
  const { message } = asFailure(trouble)
  return (
    <>
      <span className="hidden-visually" role="alert">
        Not up to date: {message}
      </span>
      <details className="stale">
        <summary title={message}>
          <CircleAlert size={14} aria-label="Not up to date" />
          <span className="cut">{message}</span>
        </summary>
        <div className="stale-more">
          <Failure error={trouble} onRetry={() => void query.refetch()} />
        </div>
      </details>
    </>
  )
}

/** A refusal that a page asks about again, such as a call that is not in the log yet, is told when the tries have ended. */
function troubleOf({ error, failureReason }: Readable<unknown>): Error | null {
  if (error !== null) return error
  return failureReason !== null && asFailure(failureReason).mayPass ? failureReason : null
}
