import { namedTests } from '../named-tests.ts'

export const proof = namedTests({
  title: 'what a server of one’s own lists joins no public id by itself',
  tests: [
    {
      file: 'test/contract/own-servers.test.ts',
      names: [
        'a model that a self-hosted server lists never becomes an endpoint of a public id, dated or not',
        'a bare name at a self-hosted server does not take over the dated model of its maker',
        'its models have ids of two parts in the provider’s own name, and are asked by the server’s name',
        'the operator joins it to a public id by `models`, and to any name by a name',
        'the paths of client libraries find it by author and slug, and by its id',
      ],
    },
  ],
})
