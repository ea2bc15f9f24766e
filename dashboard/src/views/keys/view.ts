import { KeyRound } from 'lucide-react'
import type { View } from '../../app/view.ts'
import './keys.css'

export const keys: View = {
  path: '/keys',
  title: 'Keys',
  sidebar: { group: 'manage', icon: KeyRound },
  load: () => import('./page.tsx'),
}
