import { everyLanguage } from '../../../test/vendor-sdks/languages.ts'
import { inDetail, ofAddress, transcription } from '../../../test/vendor-sdks/asks.ts'
import type { VendorSdk } from '../../../test/vendor-sdks/vendor.ts'

export const sdk: VendorSdk = {
  packages: { registry: 'npm', versions: { '@gladiaio/sdk': '2.1.0' } },
  base: '',
  simulated: '/gladia',
  asks: {
    transcript: transcription('solaria-1'),
    detailed: transcription('solaria-1', inDetail),
    address: ofAddress('solaria-1', { language: 'fr' }),
  },
  differences: [],
  enumerations: [
    {
      name: 'languages',
      declared: {
        file: '@gladiaio/sdk/dist/v2/prerecorded/generated-types.d.ts',
        line: 'type PreRecordedV2TranscriptionLanguageCode =',
      },
      words: everyLanguage,
      ask: (language) => ofAddress('solaria-1', { language }),
      at: 'body.language_config.languages[]',
      unreached: { haw: 'a caller names languages by two letters' },
    },
  ],
}
