import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title: 'LMNT: the header that names the version of its interface',
  tests: [
    {
      file: 'src/providers/lmnt/contract.test.ts',
      names: ['LMNT is told which version of its interface is meant'],
    },
  ],
})
