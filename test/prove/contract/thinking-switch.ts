import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title: 'DeepSeek, Moonshot AI and Z.ai: not to think at all',
  tests: [
    {
      file: 'test/contract/host-members.test.ts',
      names: ['deepseek is told by', 'moonshot is told by', 'zai is told by'],
    },
  ],
})
