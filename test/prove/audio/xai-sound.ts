import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title: 'xAI: a language for speech, voices of a team, a model for transcription',
  tests: [
    {
      file: 'src/providers/xai/contract.test.ts',
      names: [
        'xAI is sent the language that it requires',
        'xAI is sent voices that a team created, and its own voices in upper or lower case',
        'xAI hears with the model that the caller’s own options name',
      ],
    },
    {
      file: 'src/providers/google-ai-studio/contract.test.ts',
      names: ['a voice of Google is found whatever its case'],
    },
  ],
})
