import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title: 'binary frames of Amazon’s own encoder, cut at every byte; wrong checksums and lengths; exceptions',
  tests: [
    {
      file: 'src/formats/text/converse/read-stream.test.ts',
      names: [
        'is read the same wherever its reads end',
        'that ends before its reason is broken off',
        'with a wrong checksum, or a length that no frame has, is broken off',
        'says why the provider broke off',
      ],
    },
    {
      file: 'src/formats/text/streams/chunk-stream.test.ts',
      names: [
        'is shown as the model’s own events, cut at every byte',
        'breaks off at a wrong checksum, after what came before it',
        'breaks off with the reason of an exception, whatever follows it',
        'that ends without its last event has failed',
      ],
    },
  ],
})
