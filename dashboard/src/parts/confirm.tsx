import { Dialog } from '@base-ui/react/dialog'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'

/** Asks before something that cannot be undone, or what else it needs to know; the verb stands on the button. */
export function Confirm({
  title,
  verb,
  children,
  kind = 'danger',
  isDisabled = false,
  onConfirm,
  onClose,
}: {
  title: string
  verb: string
  children: ReactNode
  kind?: 'danger' | 'primary'
  isDisabled?: boolean
  onConfirm: () => void
  onClose: () => void
}) {
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="veil" />
        <Dialog.Popup className="popup dialog">
          <Dialog.Title>{title}</Dialog.Title>
          <div className="muted">{children}</div>
          <div className="dialog-actions">
            <Button onClick={onClose}>Back</Button>
            <Button kind={kind} disabled={isDisabled} onClick={onConfirm}>
              {verb}
            </Button>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
