import { Link } from '@tanstack/react-router'
import { Code } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { formatDuration } from '../values/time.ts'
import { CodeTabs, type Example } from './code.tsx'
import { Credits } from './values.tsx'

/** A call that a page made; null is what is not known, or not yet. */
export interface MadeCall {
  cost: number | null
  totalMs: number | null
  provider: string | null
  /** Of its generation, or of the request where it has none. */
  id: string | null
}

/** What a call cost and took and who answered it, the same call as code, and the way to its line in the log. */
export function CallFoot({
  call,
  children,
  actions,
  examples,
}: {
  call: MadeCall
  children?: ReactNode
  actions?: ReactNode
  examples?: () => readonly Example[]
}) {
  const [isCodeShown, setCodeShown] = useState(false)
  const { cost, totalMs, provider, id } = call
  return (
    <>
      <div className="step-foot">
        {cost !== null && <Credits value={cost} />}
        {children}
        {totalMs !== null && <span>all of it {formatDuration(totalMs)}</span>}
        {provider !== null && <span>{provider}</span>}
        <span className="step-actions">
          {actions}
          {examples && (
            <button
              type="button"
              className="copy"
              aria-label="Show the code"
              title="Show the code"
              aria-expanded={isCodeShown}
              onClick={() => setCodeShown(!isCodeShown)}
            >
              <Code size={14} aria-hidden />
            </button>
          )}
          {id !== null && (
            <Link to={`/requests/${id}`} className="small">
              Open in Requests
            </Link>
          )}
        </span>
      </div>
      {examples && isCodeShown && <CodeTabs examples={examples()} />}
    </>
  )
}
