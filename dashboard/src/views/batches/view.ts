import { Layers } from 'lucide-react'
import type { View } from '../../app/view.ts'
import './batches.css'

export const batches: View = {
  path: '/batches',
  title: 'Batches',
  sidebar: { group: 'watch', icon: Layers },
  load: () => import('./page.tsx'),
}
