import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title: 'no word of a provider takes a balance or the limit of a key below zero, and what is true is paid',
  tests: [
    {
      file: 'test/contract/covered-counts.test.ts',
      names: [
        'of 0.0017 does not go to −0.0108',
        'of 0.05 is not taken to −0.324 by thirty streams',
        'of 0.4 is not taken below zero by 400 items of a batch',
        'pays all counted tokens if it covers them',
        'pays all counted tokens of an item of a batch',
        'the limit of a key is not exceeded by what a provider counts',
        'holds 32,000 tokens in addition',
        'holds at most the context of the model',
        'is held for an item of a batch too',
        'a transcript is charged as far as the balance covers',
        'speech is charged as far as the balance covers',
      ],
    },
  ],
})
