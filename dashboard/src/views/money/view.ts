import { Coins } from 'lucide-react'
import type { View } from '../../app/view.ts'

export const money: View = {
  path: '/money',
  title: 'Money',
  sidebar: { group: 'manage', icon: Coins },
  load: () => import('./page.tsx'),
}
