import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title: 'xAI: speakers of words',
  tests: [{ file: 'src/providers/xai/contract.test.ts', names: ['xAI gives the speaker of every word'] }],
})
