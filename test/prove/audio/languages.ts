import { namedTests } from '../named-tests.ts'

const vendors = ['gladia', 'cartesia', 'assemblyai', 'groq', 'fireworks', 'speechmatics']

export const proof = namedTests({
  title: 'each language of each vendor that lists them, in its own word',
  tests: [
    {
      file: 'src/providers/languages.test.ts',
      names: vendors.flatMap((vendor) => [
        `the languages of ${vendor}: each is asked for in its own word`,
        `the languages of ${vendor}: an unknown one is refused by the field’s name, with the known ones`,
      ]),
    },
    {
      file: 'src/providers/gladia/contract.test.ts',
      names: ['Gladia is not sent Norwegian Bokmål'],
    },
  ],
})
