import { TriangleAlert } from 'lucide-react'
import { Panel } from '../../parts/page.tsx'
import { State } from '../../parts/state.tsx'
import type { LineReport } from '../../values/line-check.ts'
import { formatCount } from '../../values/money.ts'

/** How many lines can be sent, and what is wrong with the others. */
export function LinesReport({ report }: { report: LineReport }) {
  const lines = report.faultCount === 1 ? 'line' : 'lines'
  return (
    <Panel title="Lines">
      <div className="stack">
        <div className="row wrap">
          <State kind={report.items > 0 ? 'ok' : 'bad'}>{formatCount(report.items)} items can be sent</State>
          {report.faultCount > 0 && (
            <State kind="bad">
              {formatCount(report.faultCount)} bad {lines}
            </State>
          )}
        </div>
        {report.faultCount > 0 && (
          <>
            <ul className="faults" aria-label="Bad lines" tabIndex={0}>
              {report.faults.map(({ line, message }) => (
                <li key={line} className="small">
                  <b>line {formatCount(line)}</b>: {message}
                </li>
              ))}
            </ul>
            {report.faultCount > report.faults.length && (
              <p className="hint">The first {report.faults.length} of them are shown.</p>
            )}
            <div className="note warn">
              <TriangleAlert size={16} aria-hidden />
              <p>Bad lines are left out. Mend the file and choose it again to send them too.</p>
            </div>
          </>
        )}
      </div>
    </Panel>
  )
}
