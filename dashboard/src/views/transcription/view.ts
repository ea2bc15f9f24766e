import { Mic } from 'lucide-react'
import './transcription.css'
import type { View } from '../../app/view.ts'

export const transcription: View = {
  path: '/transcription',
  title: 'Transcription',
  sidebar: { group: 'try', icon: Mic },
  role: 'member',
  load: () => import('./page.tsx'),
}
