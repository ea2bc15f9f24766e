import type { VendorSdk } from '../../../test/vendor-sdks/vendor.ts'

export const sdk: VendorSdk = {
  packages: { registry: 'npm', versions: { voyageai: '0.4.0' }, isLarge: true },
  base: '/v1',
  simulated: '/v1',
  asks: {
    plain: { path: '/embeddings', upstream: 'voyage-3.5', body: { input: ['Hello'] } },
    shaped: {
      path: '/embeddings',
      upstream: 'voyage-3.5',
      body: { input: ['Hello', 'there'], dimensions: 256, input_type: 'query' },
    },
  },
  differences: [],
}
