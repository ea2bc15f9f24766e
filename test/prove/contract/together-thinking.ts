import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title: 'Together: how hard to think, and not to think at all',
  tests: [
    {
      file: 'test/contract/host-members.test.ts',
      names: [
        'Together is told an effort by its own member, whatever the caller speaks',
        'Together does not think where the caller wants no thinking',
        'Together is told to think at the nearest effort that it knows',
      ],
    },
  ],
})
