import { expect, test } from 'bun:test'
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { ApiFailure } from '../api/failure.ts'
import { Reading, Stale, type Readable } from './reading.tsx'

const down = new ApiFailure({ status: 503, type: 'storage_unavailable', message: 'The database is down.' })
const missing = new ApiFailure({ status: 404, type: 'not_found', message: 'It is not in the log.' })

const readable = (given: Partial<Readable<string>>): Readable<string> => ({
  data: undefined,
  error: null,
  failureReason: null,
  refetch: () => Promise.resolve(),
  ...given,
})

function shown(query: Readable<string>): string {
  const place = createElement('i', null, 'place')
  return renderToStaticMarkup(Reading({ of: query, place, children: (data) => data }))
}

const stale = (query: Readable<string>) => renderToStaticMarkup(createElement(Stale, { of: query }))

test('before anything is known there is a place for it', () => {
  expect(shown(readable({}))).toBe('<i>place</i>')
  expect(stale(readable({}))).toBe('')
})

test('a failure is told at the first try, while another one follows', () => {
  const text = shown(readable({ failureReason: down }))
  expect(text).toContain('The database is down.')
  expect(text).toContain('status 503')
  expect(text).not.toContain('place')
})

test('data that was there stays when reading it again fails, and the head tells that it is old', () => {
  for (const trouble of [{ failureReason: down }, { error: down }]) {
    const query = readable({ data: 'figures', ...trouble })
    expect(shown(query)).toBe('figures')
    expect(stale(query)).toContain('Not up to date: The database is down.')
  }
  expect(stale(readable({ data: 'figures' }))).toBe('')
})

test('what a page asks about again, such as a call that is not written yet, is told when the tries have ended', () => {
  expect(shown(readable({ failureReason: missing }))).toBe('<i>place</i>')
  expect(shown(readable({ error: missing, failureReason: missing }))).toContain('It is not in the log.')
})
