import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title: 'the catalog shows when a provider shuts a model down, and the doctor warns 60 days before',
  tests: [
    {
      file: 'test/contract/expiration.test.ts',
      names: [
        'a model that its provider shuts down shows the day, live and in its row for batches',
        'the day in a provider’s listing wins over the shipped one',
        'the doctor warns of models that end within 60 days, in the order of their days',
      ],
    },
  ],
})
