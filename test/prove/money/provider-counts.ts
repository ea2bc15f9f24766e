import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title: 'no true count of a provider is thrown away: files by id, searches, tools of its own',
  tests: [
    {
      file: 'test/contract/provider-counts.test.ts',
      names: [
        'a PDF that is named by its id costs the 73,842 tokens that its provider counted',
        'a file by id is believed of responses and messages callers too',
        'a search by Anthropic costs the 404,500 tokens of its rounds',
        'searches that Anthropic counts without showing them are believed in the counted number',
        'a search by OpenAI costs the 404,500 tokens of its rounds',
        'a search by a tool of OpenRouter costs the 16,924 tokens that it counted',
        'a model of Groq that searches by itself costs what it counted, and not three times that',
        'a tool of Groq that its provider runs is believed',
        'files that only their provider reads are not used to learn the ratio of estimates',
      ],
    },
  ],
})
