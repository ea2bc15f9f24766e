import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title: 'Custom hosts: a limit that they know, and nothing of what LiteLLM noted',
  tests: [
    {
      file: 'test/contract/host-members.test.ts',
      names: [
        'a custom server is told the limit of a messages or responses call by the name that every server knows',
        'a custom server is told every limit by the name that its operator says it knows',
        'members that LiteLLM added to an answer are not sent to any host, not even a custom one',
      ],
    },
    {
      file: 'test/contract/refused-by-model.test.ts',
      names: ['what LiteLLM noted in blocks of an answer does not come back to Claude'],
    },
  ],
})
