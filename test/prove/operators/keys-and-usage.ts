import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title: 'headrace keys has an end, a rotation with overlap and tokens a minute; headrace usage sums',
  tests: [
    {
      file: 'test/e2e/operator-keys.test.ts',
      names: [
        'a key that is made with an end is refused after it, and the list shows when',
        'a rotated key has another secret, the one before works for the overlap, and its limit is one',
        'a key with a limit of tokens a minute is refused once its calls have used them',
        'usage is summed by day, key, model, user and provider, and as exact lines for a spreadsheet',
      ],
    },
  ],
})
