import { filesOfOperation } from '../files-of-an-operation.ts'
import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title:
    'POST /rerank is a format and a row: six files outside its folder, live, billed by hand, refused by name',
  tests: [
    {
      file: 'test/contract/rerank.test.ts',
      names: [
        'has the documents by falling relevance, the provider, and the cost',
        'counts one search unit of a hundred documents as 2,000,000, and two of a hundred and one',
        'counts tokens at Voyage as the provider counted them',
        'estimates what a provider does not count, or counts beyond belief',
        'that does not cover the search units refuses the call before the provider is asked',
        'has no bound without a price, so that prepaid accounts are refused and tracked ones are not',
        'is no item of a batch',
        'lists rerankers for callers who ask for that output, with the price of a search unit',
        'the official client of the contract reads it',
        'Cohere’s own client reads it, and gets the scores that Cohere itself would give',
      ],
    },
  ],
  also: async () =>
    filesOfOperation({
      subject: 'feat(rerank): POST /rerank, a format and a row',
      folder: 'src/formats/rerank/',
    }),
})
