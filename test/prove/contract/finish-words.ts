import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title:
    'an end in a word that is not known, or of a call that was not expected, is no ordinary end, and is paid',
  tests: [
    {
      file: 'test/contract/finish-words.test.ts',
      names: [
        'an unexpected tool call of Gemini is passed on, and paid',
        'an answer that Model Armor removed counts as filtered, and its generated tokens are paid',
        'an answer that its provider ended in an error is an error to callers of messages',
        'an unknown finish reason is not an ordinary end of an answer at google/gemini-2.5-flash',
        'an unknown finish reason is not an ordinary end of an answer at acme/talker',
        'an unknown finish reason is not an ordinary end of an answer at anthropic/claude-haiku-4-5',
        'other servers’ words for an ordinary end and for a filter are understood',
      ],
    },
  ],
})
