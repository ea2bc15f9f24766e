import type { Schemas } from '../../api/openapi.gen.ts'
import { formatDuration } from '../../values/time.ts'

type Story = Schemas['LoggedRequestStory']

/** A stretch of a call, in milliseconds since it began. */
interface Stretch {
  key: string
  name: string
  from: number
  to: number
  parts: readonly { from: number; to: number; kind: 'plain' | 'waits' | 'streams' | 'failed' }[]
}

/** What the time of a call went into: before the provider, each attempt, after it. */
export function Waterfall({ life }: { life: Story }) {
  const stretches = stretchesOf(life)
  const end = Math.max(life.total_ms, ...stretches.map(({ to }) => to), 1)
  const share = (ms: number) => `${(ms / end) * 100}%`
  return (
    <ol className="waterfall" aria-label="Course of the call">
      {stretches.map((stretch) => (
        <li key={stretch.key}>
          <span className="cut">{stretch.name}</span>
          <span className="lane" aria-hidden="true">
            {stretch.parts.map((part) => (
              <i
                key={`${part.from}-${part.kind}`}
                className={part.kind}
                style={{ left: share(part.from), width: share(Math.max(0, part.to - part.from)) }}
              />
            ))}
          </span>
          <span className="number">{formatDuration(stretch.to - stretch.from)}</span>
        </li>
      ))}
    </ol>
  )
}

function stretchesOf({ attempts, total_ms: total, hold, postings }: Story): Stretch[] {
  const first = attempts[0]
  const last = attempts.at(-1)
  if (first === undefined || last === undefined) return [plain('all', 'In the gateway', 0, total)]
  const end = last.ended_ms ?? total
  const before = plain(
    'before',
    hold === null ? 'Before the first attempt' : 'Policy, route and hold',
    0,
    first.started_ms,
  )
  const tries = attempts.map((attempt) => stretchOf(attempt, total))
  const after = plain(
    'after',
    postings.length === 0 ? 'After the last attempt' : 'Capture and commit',
    end,
    Math.max(total, end),
  )
  return [before, ...tries, after]
}

function plain(key: string, name: string, from: number, to: number): Stretch {
  return { key, name, from, to, parts: [{ from, to, kind: 'plain' }] }
}

function stretchOf(attempt: Story['attempts'][number], totalMs: number): Stretch {
  const {
    number,
    provider_name: name,
    started_ms: from,
    first_token_ms: first,
    ended_ms: ended,
    outcome,
  } = attempt
  const to = ended ?? totalMs
  const common = { key: `attempt-${number}`, name: `${number}. ${name}`, from, to }
  if (outcome === 'failed') return { ...common, parts: [{ from, to, kind: 'failed' }] }
  const shown = first ?? to
  return {
    ...common,
    parts: [
      { from, to: shown, kind: 'waits' },
      { from: shown, to, kind: 'streams' },
    ],
  }
}
