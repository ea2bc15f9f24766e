import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title:
    'an end in a word that is not known, or of a call that was not expected, is no ordinary end, and is paid',
  tests: [
    {
      file: 'test/contract/finish-words.test.ts',
      names: [
        'a tool that Gemini called although it was not expected is called, and paid',
        'an answer that Model Armor took away was filtered, and what was made is paid',
        'an answer that its provider ended in an error is an error to callers of messages',
        'a word that nobody knows is no ordinary end of an answer at google/gemini-2.5-flash',
        'a word that nobody knows is no ordinary end of an answer at acme/talker',
        'a word that nobody knows is no ordinary end of an answer at anthropic/claude-haiku-4-5',
        'words of other servers for an ordinary end are one, and for a filter a filter',
      ],
    },
  ],
})
