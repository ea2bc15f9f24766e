import { List } from 'lucide-react'
import type { View } from '../../app/view.ts'

export const requests: View = {
  path: '/requests',
  title: 'Requests',
  sidebar: { group: 'watch', icon: List },
  load: () => import('./page.tsx'),
}
