import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title: 'Thoughts that a caller does not want are in no answer, and nobody is asked for any',
  tests: [
    {
      file: 'test/contract/hidden-thoughts.test.ts',
      names: [
        'no thought reaches a chat caller who wants none, whole',
        'no thought reaches a chat caller who wants none, streamed',
        'no thought reaches a responses caller who wants none, whole',
        'no thought reaches a responses caller who wants none, streamed',
        'no thought reaches a messages caller who wants none, whole',
        'no thought reaches a messages caller who wants none, streamed',
        'a chat caller who wants to see no thoughts asks no model to think',
        'a responses caller who wants to see no thoughts asks no model to think',
        'a messages caller who wants to see no thoughts asks no model to think',
        'hidden thoughts are paid even when the provider counts nothing',
      ],
    },
  ],
})
