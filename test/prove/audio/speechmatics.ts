import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title:
    'Speechmatics: Melia’s languages and its lack of a dictionary, Mandarin, delimiters of mixed languages',
  tests: [
    {
      file: 'src/providers/speechmatics/contract.test.ts',
      names: [
        'Speechmatics gets its own code for Mandarin',
        'Melia is asked for several languages at once',
        'Melia has no dictionary, and refuses key terms by name',
      ],
    },
    {
      file: 'src/providers/speechmatics/transcription.test.ts',
      names: ['joins each word by the delimiter of its own language'],
    },
  ],
})
