import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title: 'large bodies at once, few descriptors, a stop and a dead process are told as what they are',
  tests: [
    {
      file: 'test/e2e/few-descriptors.test.ts',
      names: [
        'a process with few descriptors refuses what it has no room for, with 503 and a time, and answers the rest',
        'no provider is blamed for it, and the next call is answered at once',
        'the start says that the limit is small',
      ],
    },
    {
      file: 'test/e2e/body-memory.test.ts',
      names: ['large bodies that come all at once share what memory they may have, and each is answered'],
    },
    {
      file: 'src/cli/doctor/diagnosis.test.ts',
      names: ['a small limit of open files is named with the way to raise it'],
    },
    {
      file: 'src/batches/batches.test.ts',
      names: ['with enough credits does not report that it waits for credits when its process stops'],
    },
    {
      file: 'src/billing/budgets/dead-owners.test.ts',
      names: ['while a dead process holds enough, a call is told to try again'],
    },
  ],
})
