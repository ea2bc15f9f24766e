import Perplexity from '@perplexity-ai/perplexity_ai'
import type { At, Intentions } from '../../../test/vendor-sdks/programs/at.ts'

const clientOf = ({ url, key }: At) => new Perplexity({ apiKey: key, baseURL: url, maxRetries: 0 })
const content = [{ type: 'input_text' as const, text: 'Say hello' }]
const input = [{ type: 'message' as const, role: 'user' as const, content }]
const asked = { model: 'openai/gpt-5.4', max_output_tokens: 100 }

export const intentions: Intentions = {
  plain: (at) => clientOf(at).responses.create({ ...asked, input }),
  streamed: (at) => clientOf(at).responses.create({ ...asked, input, stream: true }),
  embedding: (at) =>
    clientOf(at).embeddings.create({
      model: 'pplx-embed-v1-0.6b',
      input: ['Hello'],
      dimensions: 256,
      encoding_format: 'base64_int8',
    }),
}
