import { useId, type InputHTMLAttributes, type ReactNode, type TextareaHTMLAttributes } from 'react'

interface Described {
  label: ReactNode
  hint?: ReactNode
  wrong?: string | null
  isLabelHidden?: boolean
}

/** A label, a control, and below it what is wrong or how to fill it in. */
function Field({
  label,
  hint,
  wrong,
  id,
  isLabelHidden,
  children,
}: Described & { id: string; children: ReactNode }) {
  const isWrong = wrong !== null && wrong !== undefined && wrong !== ''
  return (
    <div className="field">
      <label htmlFor={id} className={isLabelHidden === true ? 'hidden-visually' : undefined}>
        {label}
      </label>
      {children}
      {isWrong ? (
        <p className="wrong" id={`${id}-hint`} role="alert">
          {wrong}
        </p>
      ) : (
        hint !== undefined && (
          <p className="hint" id={`${id}-hint`}>
            {hint}
          </p>
        )
      )}
    </div>
  )
}

type TextProps = Described & InputHTMLAttributes<HTMLInputElement>

export function TextField({ label, hint, wrong, isLabelHidden, ...rest }: TextProps) {
  const own = useId()
  const id = rest.id ?? own
  return (
    <Field label={label} hint={hint} wrong={wrong ?? null} id={id} isLabelHidden={isLabelHidden ?? false}>
      <input
        {...rest}
        id={id}
        className={`input ${rest.className ?? ''}`}
        aria-invalid={wrong !== undefined && wrong !== null}
        aria-describedby={hint !== undefined || wrong ? `${id}-hint` : undefined}
      />
    </Field>
  )
}

type AreaProps = Described & TextareaHTMLAttributes<HTMLTextAreaElement> & { isCode?: boolean }

export function TextArea({ label, hint, wrong, isLabelHidden, isCode = false, ...rest }: AreaProps) {
  const own = useId()
  const id = rest.id ?? own
  return (
    <Field label={label} hint={hint} wrong={wrong ?? null} id={id} isLabelHidden={isLabelHidden ?? false}>
      <textarea
        rows={3}
        spellCheck={!isCode}
        {...rest}
        id={id}
        className={`input ${isCode ? 'code' : ''}`}
        aria-invalid={wrong !== undefined && wrong !== null && wrong !== ''}
        aria-describedby={hint !== undefined || wrong ? `${id}-hint` : undefined}
      />
    </Field>
  )
}

export interface Choice<T extends string> {
  value: T
  label: string
}

export function SelectField<T extends string>({
  value,
  onChange,
  choices,
  isCompact = false,
  ...described
}: Described & {
  value: T
  onChange: (value: T) => void
  choices: readonly Choice<T>[]
  isCompact?: boolean
}) {
  const id = useId()
  return (
    <Field {...described} id={id}>
      <select
        id={id}
        className={`input ${isCompact ? 'compact' : ''}`}
        value={value}
        onChange={(event) => onChange(event.target.value as T)}
        aria-describedby={described.hint !== undefined || described.wrong ? `${id}-hint` : undefined}
      >
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.label}
          </option>
        ))}
      </select>
    </Field>
  )
}

/** One of a few, all in sight. */
export function Segments<T extends string>({
  label,
  value,
  onChange,
  choices,
}: {
  label: string
  value: T
  onChange: (value: T) => void
  choices: readonly Choice<T>[]
}) {
  const name = useId()
  return (
    <div className="segments" role="radiogroup" aria-label={label}>
      {choices.map((choice) => (
        <label key={choice.value}>
          <input
            type="radio"
            name={name}
            checked={choice.value === value}
            onChange={() => onChange(choice.value)}
          />
          {choice.label}
        </label>
      ))}
    </div>
  )
}

export function Switch({
  label,
  isOn,
  onChange,
  isDisabled = false,
}: {
  label: ReactNode
  isOn: boolean
  onChange: (isOn: boolean) => void
  isDisabled?: boolean
}) {
  return (
    <label className="switch">
      <input
        type="checkbox"
        role="switch"
        aria-checked={isOn}
        checked={isOn}
        disabled={isDisabled}
        onChange={(event) => onChange(event.target.checked)}
      />
      <span>{label}</span>
    </label>
  )
}
