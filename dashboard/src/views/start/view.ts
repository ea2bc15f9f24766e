import { Rocket } from 'lucide-react'
import type { View } from '../../app/view.ts'
import './start.css'

export const start: View = {
  path: '/start',
  title: 'Start',
  sidebar: { group: 'try', icon: Rocket },
  load: () => import('./page.tsx'),
}
