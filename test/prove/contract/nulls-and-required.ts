import { namedTests } from '../named-tests.ts'

const pairs = [
  'a whole answer of chat is read by every client of chat',
  'a whole answer of responses is read by every client of responses',
  'a whole answer of messages is read by every client of messages',
  'a whole answer of chat is read by every client of responses',
  'a whole answer of chat is read by every client of messages',
  'a whole answer of responses is read by every client of messages',
  'a whole answer of gemini is read by every client of messages',
  'a stream of chat is read by every client of chat',
  'a stream of responses is read by every client of responses',
  'a stream of messages is read by every client of messages',
  'a stream of chat is read by every client of messages',
  'a stream of responses is read by every client of messages',
  'a stream of gemini is read by every client of messages',
]

export const proof = namedTests({
  title: 'what every client takes of null, and members that the contract requires, in the three formats',
  tests: [
    {
      file: 'test/contract/client-demands.test.ts',
      names: [
        ...pairs,
        'the end of a passed message has its container and the reason of its refusal',
        'the end of a call that passes in responses names its tool',
        'a message begins with every count that clients look for',
        'an answer without a known price has no cost, which clients would refuse as null',
        'an empty list of citations that comes back in history is not sent on',
        'members that OpenAI’s own client adds to an answer are not sent to a provider',
        'a thread is refused with the text on which Anthropic’s client sends the whole conversation',
      ],
    },
  ],
})
