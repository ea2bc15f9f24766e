import { filesOfOperation } from '../files-of-an-operation.ts'
import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title:
    'legacy POST /completions passes where it is had, goes through the waist elsewhere, and is refused by name',
  tests: [
    {
      file: 'test/contract/completions.test.ts',
      names: [
        'passes unchanged, without the gateway’s own members, and costs the counted tokens',
        'streams, with usage and cost in the last frame before the end',
        'streams the same words',
        'a call that a conversation cannot say goes to the provider that can',
        'holds what all its answers may cost: two prompts, best of three, twenty tokens each',
        'is no item of a batch',
        'the official client reads it, whole and streamed, at both addresses',
      ],
    },
  ],
  also: async () =>
    filesOfOperation({
      subject: 'feat(completions): legacy POST /completions',
      folder: 'src/formats/completions/',
    }),
})
