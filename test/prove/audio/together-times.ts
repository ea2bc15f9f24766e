import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title: 'Together: times are asked for with brackets',
  tests: [
    {
      file: 'src/providers/together/contract.test.ts',
      names: ['Together is asked for times as its clients write lists, with brackets'],
    },
  ],
})
