import { Dialog } from '@base-ui/react/dialog'
import type { ReactNode } from 'react'

/** The sidebar over the page, on a narrow screen. */
export function Sheet({ onClose, children }: { onClose: () => void; children: ReactNode }) {
  return (
    <Dialog.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="veil" />
        <Dialog.Popup className="popup sheet" aria-label="Menu">
          {children}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
