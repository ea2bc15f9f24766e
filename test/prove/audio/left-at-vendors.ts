import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title: 'what is left at Gladia, Speechmatics and ElevenLabs is removed',
  tests: [
    {
      file: 'src/providers/gladia/contract.test.ts',
      names: ['Gladia is asked to remove what the call has left there'],
    },
    {
      file: 'src/providers/speechmatics/contract.test.ts',
      names: ['Speechmatics is asked to remove what the call has left there'],
    },
    {
      file: 'src/providers/elevenlabs/contract.test.ts',
      names: [
        'ElevenLabs is asked to remove what the call has left there',
        'ElevenLabs keeps nothing of a call that wants no retention',
      ],
    },
  ],
})
