import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title:
    'keys are listed, created, read, changed, rotated and deleted over HTTP, by hand and by the official client',
  tests: [
    {
      file: 'test/contract/keys.test.ts',
      names: [
        'a new key has every member of the contract, its secret is shown once, and it works',
        'only the name is needed, and what a key could not mean is refused by its name',
        'a list has the enabled keys that make calls, and the others where the query asks for them',
        'a change takes effect, leaves the rest, and removes a reset with its limit',
        'a deleted key ends, and its usage stays in the books',
        'a rotated key keeps its id and its usage, and both secrets work for the overlap',
        'no key of calls manages keys, and no organization reaches the keys of another',
        'a management key neither disables nor deletes itself',
        'the official client lists, creates, reads, changes and deletes keys',
      ],
    },
  ],
})
