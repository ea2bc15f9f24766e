import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title:
    'below /openai/v1 the defaults, formats and errors are those of OpenAI; elsewhere the specification stays',
  tests: [
    {
      file: 'test/contract/openai-dialect.test.ts',
      names: [
        'speech is mp3 where nobody says otherwise, and wav, opus, aac and flac where they are asked for',
        'a format that no provider of the model makes is refused by name, with models that make it',
        'transcripts come as text, srt and vtt by response_format',
        'errors have the type, param and code that clients of OpenAI look for',
        'chat, streams, responses, embeddings and models are the same handlers',
      ],
    },
  ],
})
