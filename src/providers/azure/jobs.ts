import type { LiveRequest } from '../../canonical/batch-jobs.ts'
import { openAiJobs } from '../../formats/jobs/openai-jobs.ts'

/** The operation by the end of the live path, which differs between the forms of the address. */
const endings: Readonly<Record<string, string>> = {
  '/chat/completions': '/v1/chat/completions',
  '/responses': '/v1/responses',
}

/**
 * OpenAI's files and batches at a resource of Azure, whose limits are in the pages of Global Batch. Embeddings are not run.
 * Their pages want a minute between two looks. A job is not ended by the service when its time is over; the gateway cancels
 * it. https://learn.microsoft.com/azure/foundry/openai/how-to/batch
 */
export const azureBatchJobs = openAiJobs({
  name: 'azure',
  limits: { items: 100_000, bytes: 200_000_000, windowMs: 86_400_000 },
  formats: ['responses', 'chat'],
  operations: operationOf,
  // A Foundry resource has them below its other address, and the older address below itself.
  rebase: { '/models': '/openai/v1', '/anthropic': '/openai/v1' },
  lookWaitMs: 60_000,
})

/** The name of an operation in the older form of the address is that of OpenAI without its version. */
function operationOf({ path }: Pick<LiveRequest, 'path'>): string | null {
  const ending = Object.keys(endings).find((each) => path.endsWith(each))
  if (ending === undefined) return null
  return path.startsWith('/openai/deployments/') ? ending : (endings[ending] ?? null)
}
