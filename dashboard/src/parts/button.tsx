import { LoaderCircle } from 'lucide-react'
import type { ButtonHTMLAttributes, ReactNode } from 'react'

type ButtonKind = 'plain' | 'primary' | 'danger' | 'quiet'

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  kind?: ButtonKind
  isCompact?: boolean
  isBusy?: boolean
  children: ReactNode
}

/** A verb. While it is busy it keeps its width and cannot be pressed again. */
export function Button({
  kind = 'plain',
  isCompact = false,
  isBusy = false,
  children,
  ...rest
}: ButtonProps) {
  const className = `button ${kind === 'plain' ? '' : kind} ${isCompact ? 'compact' : ''} ${rest.className ?? ''}`
  return (
    <button
      {...rest}
      type={rest.type ?? 'button'}
      className={className.trim()}
      disabled={rest.disabled === true || isBusy}
      aria-busy={isBusy}
    >
      {isBusy && <LoaderCircle size={14} className="spin" aria-hidden />}
      {children}
    </button>
  )
}

interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** Said to who cannot see the icon, and shown on hover. */
  word: string
  children: ReactNode
}

export function IconButton({ word, children, ...rest }: IconButtonProps) {
  return (
    <button {...rest} type="button" className="icon-button" aria-label={word} title={word}>
      {children}
    </button>
  )
}
