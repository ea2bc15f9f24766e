import type { LucideIcon } from 'lucide-react'
import type { ComponentType } from 'react'

/** Which part of the sidebar names a view; null is a page that only links lead to. */
export type ViewGroup = 'watch' | 'try' | 'manage'

/** Who may see a view, as the server's table of roles has it. */
export type Role = 'viewer' | 'member' | 'admin'

/**
 * A page of the console: a folder of `views/` that exports one of these, and a line in `views/registry.ts`. The page
 * itself is loaded when it is opened.
 */
export interface View {
  /** Below `/ui`, as the router has it: `/keys/$hash`. */
  path: string
  title: string
  load: () => Promise<{ Page: ComponentType }>
  /** In the sidebar, in the order of the registry. */
  sidebar?: { group: ViewGroup; icon: LucideIcon }
  /** The least role; a viewer where nothing is said. */
  role?: Role
}
