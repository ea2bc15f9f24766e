import { badKey, limited, type ProviderRows, tooLong } from '../../../test/support/provider-rows.ts'

/** The rows of the shared tests for Cohere. */
export const rows: ProviderRows = {
  refusals: [
    {
      status: 401,
      body: {
        id: 'a',
        message: 'Incorrect API key provided: ***. You can find your API key in the dashboard.',
      },
      ...badKey,
    },
    {
      status: 429,
      body: {
        id: 'a',
        message: 'You are past the per minute request limit, please wait and try again later.',
      },
      ...limited,
    },
    {
      status: 400,
      body: {
        error_type: 'TOO_MANY_TOKENS',
        id: 'a',
        message:
          'too many tokens: size limit exceeded by 25836 tokens. The limit for this model is 288000 tokens.',
      },
      ...tooLong,
    },
  ],
}
