import { defineProvider } from '../define-provider.ts'
import { messageJobs } from '../../formats/jobs/message-jobs.ts'
import { anthropicMessages } from '../../formats/text/messages/quirks.ts'
import { claudeModels } from './capabilities.ts'
import { claudeHourWrites, claudeOf } from './quirks.ts'

export const anthropic = defineProvider({
  slug: 'anthropic',
  name: 'Anthropic',
  status: 'recorded',
  baseUrl: 'https://api.anthropic.com/v1',
  auth: { type: 'header', name: 'x-api-key', prefix: '' },
  // Later versions refuse sampling even for models that take it.
  headers: { 'anthropic-version': '2023-06-01' },
  keyVariable: 'ANTHROPIC_API_KEY',
  author: 'anthropic',
  pricesProviderId: 'anthropic',
  // Half of all tokens, of whatever kind: https://platform.claude.com/docs/en/build-with-claude/batch-processing
  tiers: [{ tier: 'batch', models: /^claude-/, share: [1n, 2n] }],
  dataPolicy: { zdr: false, trains: false, stores: true },
  hourWrites: { ...claudeHourWrites, ofInput: [2n, 1n] },
  batch: 'native',
  jobs: messageJobs,
  family: claudeModels,
  adapters: { language: [anthropicMessages({ modelOf: claudeOf, isMaker: true })] },
})
