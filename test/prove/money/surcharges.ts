import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title:
    'Deepgram: stereo costs once, speakers are served on a prepaid account, an unknown surcharge closes nothing',
  tests: [
    {
      file: 'test/e2e/audio-surcharges.test.ts',
      names: [
        'a stereo file costs once at Deepgram, and twice where each channel is asked for apart',
        'speakers are served on a prepaid account and cost 0.002 a minute more at Deepgram',
        'a surcharge that nobody tells the amount of is billed without it and marked as an estimate',
      ],
    },
  ],
})
