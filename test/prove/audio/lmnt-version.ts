import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title: 'LMNT: the header that names the version of its interface',
  tests: [
    {
      file: 'src/providers/lmnt/contract.test.ts',
      names: ['a request to LMNT names the version of its interface'],
    },
  ],
})
