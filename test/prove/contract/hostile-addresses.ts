import { namedTests } from '../named-tests.ts'

const guarded = [
  'an image of a chat',
  'a video of a chat, which only some servers know',
  'sound of a chat',
  'an image of a responses request',
  'a file of a responses request at a proxy under a hosted preset',
  'an image that a tool gave in a messages request',
  'an image to be embedded',
  'the server of a tool',
].map((place) => `${place}: none of 39 hostile addresses reaches a server of the operator's own`)

export const proof = namedTests({
  title: 'addresses that a server of the operator’s own would fetch are public, and two Hosts are none',
  tests: [
    {
      file: 'test/contract/guarded-addresses.test.ts',
      names: [
        ...guarded,
        'an address behind escapes, or behind megabytes of words, is found as well',
        'each host is resolved once, and more than twenty of them are refused unresolved',
        'a call that may go elsewhere goes there, and a call without addresses asks no resolver',
        'items of a batch are checked too, each with an error of its own',
      ],
    },
    {
      file: 'test/bad-input/raw-socket.test.ts',
      names: ['two Hosts, the same Host twice and a Host with two names are 400 with the envelope'],
    },
  ],
})
