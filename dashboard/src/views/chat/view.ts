import { MessagesSquare } from 'lucide-react'
import './chat.css'
import type { View } from '../../app/view.ts'

export const chat: View = {
  path: '/chat',
  title: 'Chat',
  sidebar: { group: 'try', icon: MessagesSquare },
  role: 'member',
  load: () => import('./page.tsx'),
}
