import { Users } from 'lucide-react'
import type { View } from '../../app/view.ts'

export const members: View = {
  path: '/members',
  title: 'Members',
  sidebar: { group: 'manage', icon: Users },
  load: () => import('./page.tsx'),
}
