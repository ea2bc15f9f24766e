import { SelectField, TextField } from './fields.tsx'

export type LimitReset = '' | 'daily' | 'weekly' | 'monthly'

/** What a key may cost, as it is written into a form: nothing is no limit. */
export interface LimitText {
  limit: string
  reset: LimitReset
}

const resets: readonly { value: LimitReset; label: string }[] = [
  { value: 'daily', label: 'daily: at midnight UTC' },
  { value: 'weekly', label: 'weekly: on Monday UTC' },
  { value: 'monthly', label: 'monthly: on the first UTC' },
  { value: '', label: 'never: a limit in all' },
]

/** How much a key may cost, and when the limit begins again. */
export function LimitFields({ value, onChange }: { value: LimitText; onChange: (value: LimitText) => void }) {
  return (
    <div className="pair">
      <TextField
        label="limit"
        inputMode="decimal"
        placeholder="no limit"
        hint="In credits; one credit is one US dollar."
        value={value.limit}
        wrong={isLimitWrong(value) ? 'A number of credits, such as 5.' : null}
        onChange={(event) => onChange({ ...value, limit: event.target.value.trim() })}
      />
      <SelectField
        label="limit_reset"
        value={value.reset}
        onChange={(reset) => onChange({ ...value, reset })}
        hint="When the limit begins again."
        choices={resets}
      />
    </div>
  )
}

export function isLimitWrong({ limit }: LimitText): boolean {
  return limit !== '' && !(Number(limit) >= 0 && Number.isFinite(Number(limit)))
}

/** The limit that a key has, for a form that changes it; monthly where it has none yet. */
export function toLimitText(key: { limit: number | null; limit_reset: string | null }): LimitText {
  if (key.limit === null) return { limit: '', reset: 'monthly' }
  return {
    limit: String(key.limit),
    reset: resets.find(({ value }) => value === key.limit_reset)?.value ?? '',
  }
}

/** The members of a request that set the limit; one that is gone takes its reset with it. */
export function toLimitChange({ limit, reset }: LimitText): {
  limit: number | null
  limit_reset: Exclude<LimitReset, ''> | null
} {
  if (limit === '') return { limit: null, limit_reset: null }
  return { limit: Number(limit), limit_reset: reset === '' ? null : reset }
}
