import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title:
    'what the gateway does not serve and what changes the meaning of an answer is 400 by name, in batches too',
  tests: [
    {
      file: 'test/contract/unserved-members.test.ts',
      names: [
        'a caller of chat is refused the plugin web by its name',
        'a caller of chat is refused the plugin moderation behind one that is off by its name',
        'a caller of chat is refused a preset by its name',
        'a caller of chat is refused a limit of what tools may cost by its name',
        'a caller of responses is refused the plugin web by its name',
        'a caller of responses is refused a preset by its name',
        'a caller of messages is refused the plugin web by its name',
        'a caller of messages is refused a preset by its name',
        'an item of a batch that asks for a plugin or a preset fails alone',
        'a caller of chat is refused moderation of the answer where nobody does it',
        'a caller of responses is refused moderation of the answer where nobody does it',
        'the region in which a model is to run is refused by its name at another host of the same format',
      ],
    },
  ],
})
