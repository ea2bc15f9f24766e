import { inDetail, ofAddress, transcription } from '../../../test/vendor-sdks/asks.ts'
import type { VendorSdk } from '../../../test/vendor-sdks/vendor.ts'

export const sdk: VendorSdk = {
  packages: { registry: 'npm', versions: { '@speechmatics/batch-client': '5.1.0' } },
  base: '/v2',
  simulated: '/speechmatics/v2',
  asks: {
    transcript: transcription('enhanced'),
    detailed: transcription('enhanced', inDetail),
    address: ofAddress('enhanced', { language: 'en' }),
    mandarin: transcription('enhanced', { language: 'zh' }),
    'several-languages': transcription('melia-1'),
  },
  differences: [
    {
      at: '*: query.sm-*',
      why: 'tells which SDK asks',
    },
    {
      at: 'POST /v2/jobs: path',
      sdk: null,
      ours: 'ends with a slash',
      why: 'both are served; the documents show the slash',
    },
    {
      at: 'POST /v2/jobs: body.config.tracking.reference',
      sdk: null,
      ours: '<made up>',
      why: 'the mark by which the gateway finds its own job again',
    },
    {
      at: 'DELETE /v2/jobs/:id: query.force',
      sdk: null,
      ours: 'true',
      why: 'a job is removed also while it runs; the SDK has it as an argument',
    },
    {
      at: 'GET /v2/jobs/:id: query.wait',
      sdk: null,
      ours: '0',
      why: 'the gateway waits itself, so that it can be ended',
    },
  ],
  refusals: {
    'terms-of-melia': {
      ask: transcription('melia-1', { keyterms: ['head race'] }),
      why: 'melia-1 takes no custom dictionary',
    },
  },
}
