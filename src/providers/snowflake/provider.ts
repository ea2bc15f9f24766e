import { openAiChat } from '../../formats/text/chat/quirks.ts'
import { anthropicMessages } from '../../formats/text/messages/quirks.ts'
import { claudeOf } from '../anthropic/quirks.ts'
import { defineProvider, named, onlyFor } from '../define-provider.ts'
import { fetchSnowflakeLogin } from './login.ts'

/** Models of Snowflake Cortex, in the account of the operator. https://docs.snowflake.com/en/user-guide/snowflake-cortex/cortex-rest-api */
export const snowflake = defineProvider({
  slug: 'snowflake',
  name: 'Snowflake Cortex',
  // The operator's own: `https://<account>.snowflakecomputing.com/api/v2/cortex/v1`.
  baseUrl: null,
  baseUrlEndings: ['/api/v2/cortex/v1'],
  identity: { kind: 'snowflake', fetch: fetchSnowflakeLogin },
  author: 'snowflake',
  listing: null,
  onlyListed: true,
  hostsManyMakers: true,
  dataPolicy: { zdr: false, trains: false, stores: true },
  adapters: {
    language: [
      openAiChat({ maxTokensField: 'max_completion_tokens' }),
      onlyFor(named(/claude/i), anthropicMessages({ modelOf: claudeOf })),
    ],
  },
})
