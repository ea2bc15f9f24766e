import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title: 'a request has at most 100,000 messages, parts, calls and tools',
  tests: [
    {
      file: 'test/contract/many-elements.test.ts',
      names: [
        'POST /chat/completions names messages that has too many messages',
        'POST /chat/completions names messages that has too many a million messages',
        'POST /chat/completions names messages that has too many parts',
        'POST /chat/completions names messages that has too many calls',
        'POST /chat/completions names tools that has too many tools',
        'POST /responses names input that has too many items',
        'POST /responses names input that has too many parts',
        'POST /messages names messages that has too many blocks',
        'a batch item of more elements fails by itself',
      ],
    },
  ],
})
