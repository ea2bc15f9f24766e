import { whoMay } from '../../contract/role-expectations.ts'
import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title: `${Object.keys(whoMay).length} endpoints × stranger, viewer, member, admin and both kinds of key, by a table written by hand; forgery, sign-out, secrets`,
  tests: [
    {
      file: 'test/contract/roles.test.ts',
      names: [
        ...Object.keys(whoMay).map((line) => `${line} is for`),
        'the table has every endpoint that the description of the API has, and no other',
        'a session shows what its role may call, and that is what the table says',
        'a refused person changes nothing, whatever the body says',
        'below /openai/v1 the roles are the same',
      ],
    },
    {
      file: 'test/contract/sign-in.test.ts',
      names: [
        'without our header the cookie does not count, and beside a key it is ignored',
        'a request from another site, another port or an unknown place is refused',
        'no page of another origin may send cookies: answers and preflights never allow credentials',
        'signing out ends the session itself, not only the cookie',
        'a link signs in once, and never after a day or after another one was made',
        'secrets of sessions and links, and passwords, are nowhere in the data folder and in no line of the log',
      ],
    },
  ],
})
