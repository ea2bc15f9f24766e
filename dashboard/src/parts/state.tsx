import {
  CircleAlert,
  CircleCheck,
  CircleDashed,
  CircleMinus,
  Clock,
  LoaderCircle,
  TriangleAlert,
} from 'lucide-react'
import type { ReactNode } from 'react'

export type StateKind = 'ok' | 'warn' | 'bad' | 'idle' | 'running' | 'waiting' | 'ended'

const icons: Readonly<Record<StateKind, { icon: typeof Clock; className: string }>> = {
  ok: { icon: CircleCheck, className: 'ok' },
  warn: { icon: TriangleAlert, className: 'warn' },
  bad: { icon: CircleAlert, className: 'bad' },
  idle: { icon: CircleDashed, className: 'idle' },
  running: { icon: LoaderCircle, className: '' },
  waiting: { icon: Clock, className: 'idle' },
  ended: { icon: CircleMinus, className: 'idle' },
}

/** A state: always an icon and a word, so that no colour carries it alone. */
export function State({ kind, children }: { kind: StateKind; children: ReactNode }) {
  const { icon: Icon, className } = icons[kind]
  return (
    <span className={`state ${className}`}>
      <Icon size={14} aria-hidden className={kind === 'running' ? 'spin' : undefined} />
      {children}
    </span>
  )
}

const outcomes: Readonly<Record<string, { kind: StateKind; word: string }>> = {
  answered: { kind: 'ok', word: 'Answered' },
  failed: { kind: 'bad', word: 'Failed' },
  refused: { kind: 'warn', word: 'Refused' },
  cancelled: { kind: 'ended', word: 'Cancelled' },
}

export function OutcomeState({ outcome, status }: { outcome: string; status?: number | null }) {
  const { kind, word } = outcomes[outcome] ?? { kind: 'idle', word: outcome }
  return (
    <State kind={kind}>
      {word}
      {status !== undefined && status !== null && status !== 200 ? ` ${status}` : ''}
    </State>
  )
}
