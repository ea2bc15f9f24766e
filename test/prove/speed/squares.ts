import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title: 'what cost the square of its size is linear',
  tests: [
    {
      file: 'test/contract/linear-work.test.ts',
      names: [
        'calls and results of a chat caller to Gemini cost as much',
        'sealed thoughts of calls of a chat caller to Gemini cost as much',
        'calls and results, backwards of a responses caller to Gemini cost as much',
        'calls and results of a messages caller to Gemini cost as much',
        'results and words in turn of a messages caller to Gemini cost as much',
        'open blocks of a stream of anthropic cost as much',
        'open calls of a stream of anthropic cost as much',
        'logprobs of a stream of openai cost as much',
        'calls of a whole answer of OpenAI cost as much',
        'entities that a transcript does not have cost as much',
      ],
    },
  ],
})
