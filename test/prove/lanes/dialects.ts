import { runTests } from '../command.ts'
import type { Proof } from '../proof.ts'

export const proof: Proof = {
  title:
    'dialects: the JavaScript clients of OpenAI and Anthropic run batches unchanged, from files and from requests, and each reads what the other made',
  run: () =>
    runTests(
      ['test/contract/message-batches', 'test/contract/openai-batches', 'src/files', 'src/formats/batch'],
      { msMax: 300_000 },
    ),
}
