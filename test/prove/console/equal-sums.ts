import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title: 'row 3: spend equals the ledger by model, key, provider and user, in four time zones',
  tests: [
    {
      file: 'test/contract/accounting.test.ts',
      names: ['spend is what the calls cost', 'the ledger tells its balance'],
    },
  ],
})
