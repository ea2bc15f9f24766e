import { expect, test } from 'bun:test'
import { readThroughBareProxy, stream } from '../support/bare-proxy.ts'

// What the benchmark takes for the floor must not break where a read ends.
const at = stream.indexOf('"usage"')

test.each([
  ['before its beginning', at - 25],
  ['in its name', at + 3],
  ['in its figures', at + 20],
  ['before its newline', stream.indexOf('\n', at)],
])('the bare proxy passes on a usage event that is cut %s', async (_, cut) => {
  expect(await readThroughBareProxy(cut)).toBe(stream)
})
