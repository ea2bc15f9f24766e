import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title: 'xAI: speakers of words',
  tests: [{ file: 'test/contract/audio-vendors.test.ts', names: ['xAI tells the speaker of every word'] }],
})
