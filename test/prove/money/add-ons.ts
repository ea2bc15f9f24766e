import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title: 'add-ons of AssemblyAI and ElevenLabs are billed, and the speech of xAI by the dearer of two prices',
  tests: [
    {
      file: 'test/e2e/audio-surcharges.test.ts',
      names: [
        'the add-ons of AssemblyAI are billed by the hour of audio',
        'an edited transcript costs 30 percent more at ElevenLabs, and ten seconds at least',
        'speech of xAI costs 15 a million characters',
      ],
    },
  ],
})
