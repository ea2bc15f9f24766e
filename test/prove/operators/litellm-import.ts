import { namedTests } from '../named-tests.ts'

const onBoth = (name: string): string[] => [`on sqlite, ${name}`, `on postgres, ${name}`]

export const proof = namedTests({
  title: 'an import from LiteLLM switches nothing else on, carries prices, and writes what can be read again',
  tests: [
    {
      file: 'src/cli/import/import.test.ts',
      names: [
        'a variable that a deployment names switches no other provider on',
        'the report names every provider that will run, and the variable of one that the file does not have',
        'a file that the gateway would refuse is not written, and the report says so',
      ],
    },
    {
      file: 'src/cli/import/litellm-import.test.ts',
      names: [
        'a custom model without a price in the file gets the price that LiteLLM would bill',
        'values that the configuration would refuse are reported with their line and left out',
      ],
    },
    {
      file: 'test/moving/hostile-rows.test.ts',
      names: [
        ...onBoth('a key that expires after all dates there are is clamped, and the list of keys is shown'),
        ...onBoth('a key that ended before all time has expired'),
        ...onBoth('what was spent without being a number is all of a budget'),
        ...onBoth('an alias that nobody can write is told, and the gateway reads its configuration'),
        ...onBoth('thousands of like names of one row are one line'),
        ...onBoth('a key with a budget goes on at a custom server whose price LiteLLM has in its map'),
      ],
    },
  ],
})
