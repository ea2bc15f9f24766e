import { expect, test } from 'bun:test'
import { readMediaUrl } from './media-source.ts'

test.each(['data:image/png;base64,', 'DATA:image/png;base64,'])('%s begins the bytes themselves', (begin) => {
  const source = readMediaUrl(`${begin}iVBORw0KGgo=`, 'image/jpeg')
  expect(source).toEqual({ kind: 'data', mediaType: 'image/png', base64: 'iVBORw0KGgo=' })
})
