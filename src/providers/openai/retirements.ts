import type { Retirement } from '../define-provider.ts'

const page = { source: 'https://developers.openai.com/api/docs/deprecations', seen: '2026-11' } as const

/** OpenAI's announcements. Its listing has the same dates; these are for a start when the listing cannot be read. */
export const openAiRetirements: readonly Retirement[] = [
  {
    upstream: ['gpt-5', 'gpt-5-2025-08-07', 'gpt-5-mini', 'gpt-5-mini-2025-08-07', 'gpt-5-nano'].concat([
      'gpt-5-nano-2025-08-07',
      'gpt-5-pro',
      'o3',
      'o3-pro',
    ]),
    on: '2026-12-11',
    ...page,
  },
  { upstream: ['tts-1', 'tts-1-hd', 'gpt-4o-mini-tts'], on: '2027-01-06', ...page },
  {
    upstream: ['gpt-4o', 'gpt-4o-2024-08-06', 'gpt-4o-2024-11-20', 'gpt-4o-mini'].concat([
      'gpt-4o-mini-2024-07-18',
      'gpt-4.1',
      'gpt-4.1-2025-04-14',
      'gpt-4.1-mini',
      'gpt-4.1-mini-2025-04-14',
    ]),
    on: '2027-01-14',
    ...page,
  },
  {
    upstream: ['whisper-1', 'gpt-4o-transcribe', 'gpt-4o-mini-transcribe', 'gpt-4o-transcribe-diarize'],
    on: '2027-02-26',
    ...page,
  },
  { upstream: ['gpt-5.1', 'gpt-5.3-codex', 'gpt-5.4-nano'], on: '2027-04-01', ...page },
]
