import { expect, test } from 'bun:test'
import { readMessagesUsage } from './usage.ts'

test('tokens that the provider used to shorten a conversation are counted, although its totals leave them out', () => {
  const iterations = [
    { type: 'compaction', input_tokens: 50_000, cache_read_input_tokens: 1_000, output_tokens: 400 },
    { type: 'message', input_tokens: 600, output_tokens: 90 },
  ]
  const usage = { input_tokens: 600, output_tokens: 90, iterations }
  expect(readMessagesUsage(usage)?.usage).toMatchObject({
    inputTokens: 51_600,
    cachedInputTokens: 1_000,
    outputTokens: 490,
  })
  for (const none of [null, [], 'x', [{ type: 'message', input_tokens: 600, output_tokens: 90 }]])
    expect(readMessagesUsage({ ...usage, iterations: none })?.usage).toMatchObject({
      inputTokens: 600,
      outputTokens: 90,
    })
})
