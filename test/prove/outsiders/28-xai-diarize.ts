import { beforeAndNow } from '../before-and-now.ts'

export const proof = beforeAndNow({
  title: 'xAI: speakers of words',
  tests: [{ file: 'test/contract/audio-vendors.test.ts', names: ['xAI tells the speaker of every word'] }],
})
