import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title: 'xAI: a language for speech, voices of a team, a model for transcription',
  tests: [
    {
      file: 'src/providers/xai/contract.test.ts',
      names: [
        'xAI speaks with the language that it requires',
        'xAI speaks in voices that a team made for itself, and in its own in any case',
        'xAI hears with the model that the caller’s own options name',
      ],
    },
    {
      file: 'src/providers/google-ai-studio/contract.test.ts',
      names: ['a voice of Google is found whatever its case'],
    },
  ],
})
