import { TriangleAlert } from 'lucide-react'
import { Button } from '../../parts/button.tsx'
import { Figure } from '../../parts/figures.tsx'
import { Panel } from '../../parts/page.tsx'
import { Credits } from '../../parts/values.tsx'
import { formatCount } from '../../values/money.ts'
import { laneWords } from '../batches/batch-parts.tsx'
import type { Estimate } from './use-new-batch.ts'

/** What the batch will cost, and the button that creates it. */
export function EstimateView({
  estimate,
  faultCount,
  onCreate,
}: {
  estimate: Estimate
  faultCount: number
  onCreate: () => void
}) {
  const isShort = estimate.available !== null && estimate.available < estimate.worst_case
  return (
    <Panel title="Estimate">
      <div className="stack">
        <dl className="figures">
          <Figure word="Estimate">
            <Credits value={estimate.estimate} />
          </Figure>
          <Figure word="Worst case">
            <Credits value={estimate.worst_case} />
          </Figure>
          <Figure word="Available">
            {estimate.available === null ? 'not limited' : <Credits value={estimate.available} />}
          </Figure>
        </dl>
        <dl className="facts">
          <dt>Items</dt>
          <dd>{formatCount(estimate.total)}</dd>
          <dt>Lane</dt>
          <dd>{laneWords[estimate.lane]}</dd>
          <dt>Provider</dt>
          <dd>{estimate.provider ?? 'whichever serves the model'}</dd>
          {estimate.lanes.length > 1 && (
            <>
              <dt>Other lanes</dt>
              <dd>
                {estimate.lanes.slice(1).map((one) => (
                  <div key={one.lane}>
                    {one.lane} <Credits value={one.estimate} />, at most <Credits value={one.worst_case} />
                  </div>
                ))}
              </dd>
            </>
          )}
        </dl>
        {isShort && (
          <div className="note warn">
            <TriangleAlert size={16} aria-hidden />
            <p>
              The worst case is more than what is available. The batch is accepted; if its items cost more
              than the estimate, the results wait until credits are added.
            </p>
          </div>
        )}
        <div>
          <Button kind="primary" onClick={onCreate}>
            Create the batch
            {faultCount > 0 &&
              ` without ${formatCount(faultCount)} bad ${faultCount === 1 ? 'line' : 'lines'}`}
          </Button>
        </div>
      </div>
    </Panel>
  )
}
