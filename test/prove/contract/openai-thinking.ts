import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title: 'OpenAI: models that think refuse tuning and stop texts',
  tests: [
    {
      file: 'test/contract/refused-by-model.test.ts',
      names: [
        'a model of OpenAI that thinks is sent no tuning, and the caller hears of it',
        'stop texts for a model of OpenAI that thinks are refused by their name',
        'a model of OpenAI that thinks lists neither tuning nor stop, and fails a requirement of them',
        'stop texts of a messages call take no other road to a model that thinks',
      ],
    },
  ],
})
