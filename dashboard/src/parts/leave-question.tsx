import { useBlocker } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Confirm } from './confirm.tsx'

/** Asks before something is left that would be lost, by a link, by a reload or by closing the tab. */
export function LeaveQuestion({
  isOn,
  title,
  verb,
  children,
}: {
  isOn: boolean
  title: string
  verb: string
  children: ReactNode
}) {
  const blocker = useBlocker({
    // Filters are parts of the address too, and changing them loses nothing.
    shouldBlockFn: ({ current, next }) => isOn && current.pathname !== next.pathname,
    enableBeforeUnload: () => isOn,
    withResolver: true,
  })
  if (blocker.status !== 'blocked') return null
  return (
    <Confirm title={title} verb={verb} onConfirm={blocker.proceed} onClose={blocker.reset}>
      {children}
    </Confirm>
  )
}
