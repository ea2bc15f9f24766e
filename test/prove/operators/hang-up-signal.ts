import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title: 'SIGHUP does not stop the gateway',
  tests: [
    {
      file: 'test/e2e/hang-up-signal.test.ts',
      names: ['SIGHUP does not stop the gateway, which says in its log that it reads nothing again'],
    },
  ],
})
