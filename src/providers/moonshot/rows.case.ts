import { limited, noMoney, type ProviderRows } from '../../../test/support/provider-rows.ts'

/** The rows of the shared tests for Moonshot AI. */
export const rows: ProviderRows = {
  addresses: [
    { asked: 'messages', through: 'messages', address: 'https://api.moonshot.ai/anthropic/v1/messages' },
  ],
  refusals: [
    {
      status: 429,
      body: {
        error: {
          message: 'Your account org-1f2e3d4c5b6a is suspended, please check your plan and billing details',
          type: 'exceeded_current_quota_error',
        },
      },
      ...noMoney,
    },
    {
      status: 429,
      body: {
        error: {
          message: 'Your account reached max request concurrency: 3',
          type: 'rate_limit_reached_error',
        },
      },
      ...limited,
    },
  ],
  withoutSdk: 'its documents name the SDK of OpenAI',
}
