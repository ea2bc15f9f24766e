import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title: 'OpenAI: models that think refuse tuning and stop texts',
  tests: [
    {
      file: 'test/contract/refused-by-model.test.ts',
      names: [
        'a model of OpenAI that thinks is sent no tuning, and the loss is listed for the caller',
        'stop texts for a model of OpenAI that thinks are refused by their name',
        'a model of OpenAI that thinks lists neither tuning nor stop, and fails a requirement of them',
        'stop texts of a messages call are not sent in another format to a model that thinks',
      ],
    },
  ],
})
