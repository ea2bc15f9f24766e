import { ChartColumn } from 'lucide-react'
import type { View } from '../../app/view.ts'
import './overview.css'

export const overview: View = {
  path: '/overview',
  title: 'Overview',
  sidebar: { group: 'watch', icon: ChartColumn },
  load: () => import('./page.tsx'),
}
