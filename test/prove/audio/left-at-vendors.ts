import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title: 'what is left at Gladia, Speechmatics and ElevenLabs is removed',
  tests: [
    {
      file: 'test/contract/audio-vendors.test.ts',
      names: [
        'Gladia is asked to remove what the call has left there',
        'Speechmatics is asked to remove what the call has left there',
        'ElevenLabs is asked to remove what the call has left there',
        'ElevenLabs keeps nothing of a call that wants no retention',
      ],
    },
  ],
})
