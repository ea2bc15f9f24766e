import { expect, test } from 'bun:test'
import { fetchListing, listingPagesMax } from './fetch-listing.ts'
import type { Transport } from './exchange.ts'

function askOf(pages: (path: string) => unknown) {
  const paths: string[] = []
  const transport = {
    send: async ({ path }: { path: string }) => {
      paths.push(path)
      return { status: 200, readAll: async () => new TextEncoder().encode(JSON.stringify(pages(path))) }
    },
  } as unknown as Transport
  const target = { baseUrl: 'http://a', credential: { auth: { type: 'none' } } } as never
  const ask = (path: string) =>
    fetchListing({ target, path, transport, signal: new AbortController().signal })
  return { paths, ask }
}

test('a listing in pages is read to its end', async () => {
  const { paths, ask } = askOf((path) =>
    path.includes('pageToken')
      ? { models: [{ name: 'b' }] }
      : { models: [{ name: 'a' }], nextPageToken: 'next/2' },
  )
  expect(await ask('/models?pageSize=1')).toEqual({ models: [{ name: 'a' }, { name: 'b' }] })
  expect(paths).toEqual(['/models?pageSize=1', '/models?pageSize=1&pageToken=next%2F2'])
})

test('pages that go on after the last of them are read too, as Anthropic has them', async () => {
  const { paths, ask } = askOf((path) =>
    path.includes('after_id=a%3A1')
      ? { data: [{ id: 'b' }], has_more: false, last_id: 'b' }
      : { data: [{ id: 'a:1' }], has_more: true, last_id: 'a:1' },
  )
  expect(await ask('/models')).toEqual({ models: [{ id: 'a:1' }, { id: 'b' }] })
  expect(paths).toEqual(['/models', '/models?after_id=a%3A1'])
})

test('a listing whose pages never end is read as far as its bound', async () => {
  const { paths, ask } = askOf(() => ({ models: [{ name: 'a' }], nextPageToken: 'again' }))
  expect(await ask('/models')).toMatchObject({ models: { length: listingPagesMax } })
  expect(paths).toHaveLength(listingPagesMax)
})

test('a listing of one page is as it came', async () => {
  const body = { models: [{ name: 'a' }], data: [{ id: 'b' }], has_more: false }
  expect(await askOf(() => body).ask('/models')).toEqual(body)
})
