import { badKey, limited, noMoney, type ProviderRows } from '../../../test/support/provider-rows.ts'

/** The rows of the shared tests for Z.ai. */
export const rows: ProviderRows = {
  addresses: [
    { asked: 'messages', through: 'chat', address: 'https://api.z.ai/api/paas/v4/chat/completions' },
  ],
  refusals: [
    {
      status: 401,
      body: { error: { code: '1000', message: 'Authentication Failed' } },
      ...badKey,
    },
    {
      status: 429,
      body: {
        error: { code: '1113', message: 'Insufficient balance or no resource package. Please recharge.' },
      },
      ...noMoney,
    },
    {
      status: 429,
      body: { error: { code: '1302', message: 'High concurrency usage of this API' } },
      ...limited,
    },
  ],
}
