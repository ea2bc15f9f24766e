import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title:
    'row 5: a call that failed over shows both attempts, the reason, its marks in order, and balanced postings',
  tests: [
    {
      file: 'test/contract/request-log.test.ts',
      names: [
        'a call that failed over shows both attempts',
        'a caller who hangs up is in the log as cancelled',
      ],
    },
  ],
})
