import { AudioLines } from 'lucide-react'
import './speech.css'
import type { View } from '../../app/view.ts'

export const speech: View = {
  path: '/speech',
  title: 'Speech',
  sidebar: { group: 'try', icon: AudioLines },
  role: 'member',
  load: () => import('./page.tsx'),
}
