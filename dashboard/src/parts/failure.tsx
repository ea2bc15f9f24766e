import { CircleAlert, RotateCw } from 'lucide-react'
import { useEffect, useState } from 'react'
import { asFailure } from '../api/failure.ts'
import { Button } from './button.tsx'
import { Id } from './id.tsx'

/** What went wrong: message, type, request id, and another try no earlier than the gateway wants. */
export function Failure({
  error,
  onRetry,
  isSlim = false,
}: {
  error: unknown
  onRetry?: () => void
  /** For a line above data that is kept. */
  isSlim?: boolean
}) {
  const failure = asFailure(error)
  const leftMs = useCountdown(failure.retryAfterMs)
  return (
    <div className={`failure ${isSlim ? 'slim' : ''}`} role="alert">
      <div className="failure-title">
        <CircleAlert size={16} aria-hidden />
        <span>{failure.message}</span>
      </div>
      <div className="row wrap small muted">
        <code>{failure.type}</code>
        {failure.status !== 0 && <span>status {failure.status}</span>}
        {failure.param !== null && (
          <span>
            field <code>{failure.param}</code>
          </span>
        )}
        {failure.requestId !== null && <Id value={failure.requestId} />}
        <span className="grow" />
        {onRetry && (
          <Button isCompact onClick={onRetry} disabled={leftMs > 0}>
            <RotateCw size={14} aria-hidden />
            {leftMs > 0 ? `Retry in ${Math.ceil(leftMs / 1000)} s` : 'Retry'}
          </Button>
        )}
      </div>
    </div>
  )
}

/** The milliseconds that are left of a wait that began when it was first shown. */
function useCountdown(waitMs: number | null): number {
  const [until, setUntil] = useState(() => Date.now() + (waitMs ?? 0))
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    setUntil(Date.now() + (waitMs ?? 0))
    setNow(Date.now())
  }, [waitMs])
  useEffect(() => {
    if (until <= now) return
    const timer = setTimeout(() => setNow(Date.now()), Math.min(1000, until - now))
    return () => clearTimeout(timer)
  }, [until, now])
  return Math.max(0, until - now)
}
