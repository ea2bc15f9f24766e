import { Building2 } from 'lucide-react'
import type { View } from '../../app/view.ts'

export const organization: View = {
  path: '/organization',
  title: 'Organization',
  sidebar: { group: 'manage', icon: Building2 },
  load: () => import('./page.tsx'),
}
