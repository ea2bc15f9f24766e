import { beforeAndNow } from '../before-and-now.ts'

export const proof = beforeAndNow({
  title: 'SIGHUP does not stop the gateway',
  tests: [
    {
      file: 'test/e2e/hang-up-signal.test.ts',
      names: ['SIGHUP does not stop the gateway, which says in its log that it reads nothing again'],
    },
  ],
})
