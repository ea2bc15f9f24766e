import { Boxes } from 'lucide-react'
import type { View } from '../../app/view.ts'

export const models: View = {
  path: '/models',
  title: 'Models',
  sidebar: { group: 'watch', icon: Boxes },
  load: () => import('./page.tsx'),
}
