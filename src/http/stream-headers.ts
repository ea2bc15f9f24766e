/**
 * Headers that keep proxies from buffering a streamed answer. nginx buffers unless a header forbids it; other proxies
 * buffer in order to compress.
 */
export const streamHeaders = {
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const
