import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title: 'an hour of a cache costs what its rule makes of the write that the operator priced',
  tests: [
    {
      file: 'test/contract/cache-writes.test.ts',
      names: [
        'a write that the operator priced costs 1.6 times that for an hour, whatever the price list says of an hour',
        'a write that the operator priced at a service tier costs 1.6 times that for an hour there',
      ],
    },
  ],
})
