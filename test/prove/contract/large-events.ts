import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title: 'one event of a provider is bounded, and so are the copies of it',
  tests: [
    {
      file: 'test/contract/large-events.test.ts',
      names: [
        'an event of 30 MB of text breaks a stream of /chat/completions',
        'an event of 30 MB of text breaks a stream of /responses',
        'an event of 30 MB of text breaks a stream of /messages',
        'a text of 5 MB in one event is not sent five times to a responses caller',
        'a picture of 20 MB in one event is sent twice to a responses caller, and its announcement has no bytes',
        'a frame of a great many parts breaks a stream',
      ],
    },
  ],
})
