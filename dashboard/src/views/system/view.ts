import { Activity } from 'lucide-react'
import type { View } from '../../app/view.ts'

export const system: View = {
  path: '/system',
  title: 'System',
  sidebar: { group: 'manage', icon: Activity },
  load: () => import('./page.tsx'),
}
