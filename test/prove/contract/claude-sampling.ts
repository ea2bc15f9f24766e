import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title: 'Claude: temperature beside top_p, and instructions alone',
  tests: [
    {
      file: 'test/contract/refused-by-model.test.ts',
      names: [
        'Claude 4 is sent the temperature without top_p, and the caller hears of it',
        'a Claude that takes no sampling is sent none, whatever the caller speaks',
        'instructions alone reach Claude as words of the user',
        'instructions alone reach the responses of OpenAI as an item',
      ],
    },
  ],
})
