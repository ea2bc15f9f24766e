import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title:
    'rows 3 and 4: an overview of 10,000,000 calls in half a second, any page in 300 ms, exact in every zone',
  tests: [
    { file: 'test/e2e/large-log.test.ts', names: ['on sqlite, an overview', 'on postgres, an overview'] },
  ],
})
