import { Button } from './button.tsx'
import { State } from './state.tsx'

/** How far something has come that takes a while, in words and as a bar, and a way to stop it. */
export function Progress({
  label,
  words,
  done,
  total,
  onStop,
}: {
  label: string
  words: string
  done: number
  total: number
  onStop: () => void
}) {
  const percent = total === 0 ? 0 : Math.min(100, (done / total) * 100)
  return (
    <div className="stack tight">
      <div className="row">
        <State kind="running">{words}</State>
        <span className="grow" />
        <Button isCompact kind="quiet" onClick={onStop}>
          Stop
        </Button>
      </div>
      <div
        className="bar"
        role="progressbar"
        aria-label={label}
        aria-valuenow={Math.round(percent)}
        aria-valuemin={0}
        aria-valuemax={100}
      >
        <i style={{ width: `${percent}%` }} />
      </div>
    </div>
  )
}
