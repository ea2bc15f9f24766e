import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title: 'each format is told in its own words, bad media are 400, and promised forms are kept',
  tests: [
    {
      file: 'test/contract/told-in-format.test.ts',
      names: [
        'a provider whose credential is refused is 503, and an overload in Anthropic’s words, with the reason',
        'a 404 below messages has Anthropic’s envelope, and elsewhere the contract’s',
        'the API description has the error for an answer in another form than the requested one',
        'a model names its tokenizer as a string, and the parameters of the contract alone',
      ],
    },
    {
      file: 'test/contract/finish-words.test.ts',
      names: ['an answer that Model Armor removed counts as filtered, and its generated tokens are paid'],
    },
    {
      file: 'test/contract/bad-media.test.ts',
      names: [
        'an image at a script is refused by its place',
        'an image at nothing is refused by its place',
        'an image at words that are no address is refused by its place',
        'an image at broken base64 is refused by its place',
        'an image at bytes that are not in base64 is refused by its place',
        'bytes of a message that are not base64 are refused, even in the result of a tool',
        'an item of a batch with invalid media ends as refused',
        'a body that is not UTF-8 is refused for every operation',
      ],
    },
    {
      file: 'test/contract/promised-forms.test.ts',
      names: [
        'a newer Claude is held to an open schema by its own structured output, closed',
        'an older Claude gives its answer by a tool, and the caller sees text',
        'a newer Claude whose structured output does not take the schema gives its answer by a tool',
        'JSON in a code fence is taken out of it',
      ],
    },
  ],
})
